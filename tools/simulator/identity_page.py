"""The pages of the identity provider, and the frame of all pages for people."""

from collections.abc import Iterable, Mapping
from html import escape

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Simulated sign-in</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto }}
label, input, textarea, button {{ display: block; width: 100%; font: inherit }}
input, textarea, button {{ box-sizing: border-box; margin: 0.25rem 0 1rem; padding: 0.5rem }}
</style>
<h1>Simulated sign-in</h1>
{content}
</html>
"""
_FORM = """<p>This page stands in for Google on this machine. Be whom you like.</p>
<form method="post">
<label>E-mail address
<input name="email" type="email" required autofocus value="alice@example.com"></label>
<label>Name
<input name="name" value="Alice Example"></label>
{hidden}
<button>Sign in</button>
</form>
"""
_MADE = """<p>Send this token within the hour: <code>POST /api/auth/google</code> with the body
<code>{{"id_token": "..."}}</code>.</p>
<textarea rows="14" readonly>{token}</textarea>
"""
_PASSED_ON = ("client_id", "redirect_uri", "nonce", "state")


def page(content: str) -> str:
    """A whole page with this HTML."""
    return _PAGE.format(content=content)


def hidden_fields(query: Mapping[str, str], names: Iterable[str]) -> str:
    """Hidden fields that pass on the parameters of these names."""
    return "\n".join(
        f'<input type="hidden" name="{name}" value="{escape(query[name])}">'
        for name in names
        if name in query
    )


def form(query: Mapping[str, str]) -> str:
    """The form for an address and a name; it passes on the parameters of the web app."""
    return page(_FORM.format(hidden=hidden_fields(query, _PASSED_ON)))


def token(text: str) -> str:
    """The page that shows a token, to be copied."""
    return page(_MADE.format(token=escape(text)))
