"""The authorization endpoints (RFC 6749, 4.1.1; RFC 7636, 4.3): a page asks the person."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from simulator import identity
from simulator.oauth import page
from simulator.oauth.exchange import Answer, Request, html_answer
from simulator.oauth.registration import CLIENT_ID
from simulator.oauth.tokens import HostName
from simulator.provider import Problem, Refused

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_GITLAB_SCOPES = frozenset(
    {
        *("api", "read_api", "read_user", "read_repository", "write_repository"),
        *("create_runner", "k8s_proxy", "read_registry", "write_registry"),
        *("openid", "profile", "email"),
    }
)
_GOOGLE_SCOPES = frozenset({"openid", "profile", "email"})
_GOOGLE_PREFIX = "https://www.googleapis.com/auth/"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A request that can be answered at the client's `redirect_uri`."""

    redirect_uri: str
    scopes: tuple[str, ...]
    fields: Mapping[str, str]

    def back(self, **parameters: str) -> Answer:
        """Send the person back to the client."""
        if "state" in self.fields:
            parameters["state"] = self.fields["state"]
        joint = "&" if "?" in self.redirect_uri else "?"
        location = f"{self.redirect_uri}{joint}{urlencode(parameters)}"
        return Answer(303, headers={"location": location, "cache-control": "no-store"})

    def refused(self, error: str, description: str) -> Answer:
        """Send the person back with an error (RFC 6749, 4.1.2.1)."""
        return self.back(error=error, error_description=description)


def show(request: Request) -> Answer:
    """The page that asks. Raises `Refused` where nobody can be sent back."""
    wish = _read(request.host, request.query)
    if (refusal := _objection(request.host, wish)) is not None:
        return refusal
    return html_answer(page.consent(request.host, request.query, wish.scopes))


def decide(request: Request) -> Answer:
    """Send the person back with a code, or without one. Raises `Refused`."""
    form = request.form
    wish = _read(request.host, form)
    if (refusal := _objection(request.host, wish)) is not None:
        return refusal
    if form.get("decision") != "allow":
        return wish.refused("access_denied", "The person has denied the request.")
    login = form.get("login", "").strip()
    if not login:
        raise Refused(Problem(400, "Enter a login."))
    code = request.state.codes.make(
        request.host,
        login,
        wish.scopes,
        redirect_uri=wish.redirect_uri,
        challenge=form["code_challenge"],
        is_renewable=_is_renewable(request, login),
    )
    # Google repeats what was allowed: people can allow less than is asked for.
    allowed = {"scope": " ".join(wish.scopes)} if request.host == "google" else {}
    return wish.back(code=code.text, **allowed)


def _read(host: HostName, fields: Mapping[str, str]) -> _Wish:
    if fields.get("client_id") != CLIENT_ID:
        status = {"github": 404, "gitlab": 401, "google": 401}[host]
        raise Refused(Problem(status, "There is no such client.", "invalid_client"))
    target = fields.get("redirect_uri", "")
    if identity.on_this_machine(target) != target:
        raise Refused(Problem(400, "`redirect_uri` must not have a fragment."))
    scopes = tuple(re.split(r"[\s,]+", fields["scope"].strip())) if fields.get("scope") else ()
    return _Wish(target, scopes, fields)


def _objection(host: HostName, wish: _Wish) -> Answer | None:
    """The answer to a request that lacks something; None if it is in order. Google shows a page
    in place of an answer: raises `Refused`."""
    if (found := _error(host, wish)) is None:
        return None
    code, description = found
    if host == "google":
        raise Refused(Problem(400, description, code))
    return wish.refused(code, description)


def _error(host: HostName, wish: _Wish) -> tuple[str, str] | None:
    fields = wish.fields
    if fields.get("response_type") != "code":
        return "unsupported_response_type", "`response_type` must be code."
    if fields.get("code_challenge_method") != "S256":
        return "invalid_request", "`code_challenge_method` must be S256."
    if _CHALLENGE.fullmatch(fields.get("code_challenge", "")) is None:
        return "invalid_request", "`code_challenge` must be a SHA-256 in base64url."
    if host == "google" and not wish.scopes:
        return "invalid_request", "`scope` is missing."
    unknown = [scope for scope in wish.scopes if not _is_scope(host, scope)]
    if unknown:
        return "invalid_scope", f"There is no scope {unknown[0]}."
    return None


def _is_scope(host: HostName, scope: str) -> bool:
    """GitHub does not check them: the permissions of its tokens are those of the app."""
    if host == "gitlab":
        return scope in _GITLAB_SCOPES
    if host == "google":
        return scope in _GOOGLE_SCOPES or scope.startswith(_GOOGLE_PREFIX)
    return True


def _is_renewable(request: Request, login: str) -> bool:
    """Is there a refresh token? Google gives one for offline access, and once."""
    if request.host != "google":
        return True
    form = request.form
    is_first = not request.state.tokens.can_refresh("google", login)
    is_asked_again = "consent" in form.get("prompt", "").split()
    return form.get("access_type") == "offline" and (is_first or is_asked_again)
