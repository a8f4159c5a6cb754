"""The page on which a person allows what a client asks for."""

from collections.abc import Mapping
from html import escape

from simulator import identity_page
from simulator.oauth.tokens import HostName

TITLES: dict[HostName, str] = {"github": "GitHub", "gitlab": "GitLab", "google": "Google"}
PASSED_ON = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "access_type",
    "prompt",
)
_FORM = """<p>This page stands in for {title} on this machine. <code>{client}</code> asks for:</p>
<ul>
{scopes}
</ul>
<form method="post">
<label>Your login at {title}
<input name="login" required autofocus value="alice"></label>
{hidden}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" formnovalidate>Deny</button>
</form>
"""


def consent(host: HostName, query: Mapping[str, str], scopes: tuple[str, ...]) -> str:
    """The form with the scopes; it passes on the parameters of the client."""
    named = scopes or ("what the app has been granted at its installation",)
    content = _FORM.format(
        title=TITLES[host],
        client=escape(query["client_id"]),
        scopes="\n".join(f"<li><code>{escape(scope)}</code></li>" for scope in named),
        hidden=identity_page.hidden_fields(query, PASSED_ON),
    )
    return identity_page.page(content)


def message(text: str) -> str:
    """The HTML of a paragraph with this text."""
    return f"<p>{escape(text)}</p>"
