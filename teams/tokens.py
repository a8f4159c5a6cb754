"""The tokens of invitations. Only mails have them."""

from common import link_tokens


def digest(token: str) -> bytes:
    """The stored form of a token."""
    return link_tokens.digest(token, salt="teams.invitations")
