"""Three OAuth 2 authorization servers, and what they share with the services behind them.

They are those of GitHub (for a GitHub App whose user tokens expire), GitLab and Google. `tokens` is
the one store of what they issue: a service asks it whose an access token is.
"""
