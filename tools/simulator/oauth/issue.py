"""The token endpoints: codes and refresh tokens are exchanged (RFC 6749, 4.1.3 and 6)."""

import time

from simulator.oauth.codes import Code
from simulator.oauth.errors import NOT_STORED, negotiated
from simulator.oauth.exchange import Answer, Request, json_answer
from simulator.oauth.registration import is_authenticated
from simulator.oauth.tokens import TERMS, Token
from simulator.provider import Problem, Refused


def respond(request: Request) -> Answer:
    """Tokens for a code or for a refresh token. Raises `Refused`."""
    if not is_authenticated(request):
        if request.host == "github":
            raise _refused(request, "incorrect_client_credentials", "The client is unknown.")
        raise Refused(Problem(401, "The client is unknown.", "invalid_client"))
    # GitHub documents no grant type for codes.
    usual = "authorization_code" if request.host == "github" else None
    match request.form.get("grant_type", usual):
        case "authorization_code":
            return _answer(request, _exchanged(request))
        case "refresh_token":
            return _answer(request, _refreshed(request))
    raise _refused(request, "unsupported_grant_type", "This grant type is not supported.")


def _exchanged(request: Request) -> Token:
    """The tokens of a code, which is used then."""
    form, state = request.form, request.state
    code = state.codes.find(request.host, form.get("code", ""))
    if code is None:
        raise _bad_code(request, "The code is unknown or has expired.")
    if code.is_used:
        # RFC 6749, 4.1.2: somebody else may have used it.
        state.tokens.revoke_grant(code.grant)
        raise _bad_code(request, "The code was used before.")
    _check_redirect(request, code)
    if not code.is_proved_by(form.get("code_verifier", "")):
        raise _bad_code(request, "`code_verifier` does not fit the challenge.")
    code.is_used = True
    return state.tokens.issue(
        code.host, code.login, code.scopes, grant=code.grant, is_renewable=code.is_renewable
    )


def _check_redirect(request: Request, code: Code) -> None:
    """GitHub does not require a `redirect_uri`, but compares one."""
    usual = code.redirect_uri if request.host == "github" else None
    if request.form.get("redirect_uri", usual) == code.redirect_uri:
        return
    words = "`redirect_uri` is another one than in the request for authorization."
    if request.host == "gitlab":
        raise _bad_code(request, words)
    raise _refused(request, "redirect_uri_mismatch", words)


def _refreshed(request: Request) -> Token:
    text = request.form.get("refresh_token", "")
    token = request.state.tokens.refresh(request.host, text)
    if token is None:
        code = "bad_refresh_token" if request.host == "github" else "invalid_grant"
        raise _refused(request, code, "The refresh token is unknown, used, expired or revoked.")
    return token


def _answer(request: Request, token: Token) -> Answer:
    terms = TERMS[token.host]
    payload: dict[str, str | int] = {
        "access_token": token.text,
        "token_type": "Bearer",
        "expires_in": terms.lifetime,
        "scope": " ".join(token.scopes),
    }
    is_repeated = request.form.get("grant_type") == "refresh_token" and not terms.rotates
    if token.refresh_token is not None and not is_repeated:
        payload["refresh_token"] = token.refresh_token
    if request.host == "github":
        # The scope of a GitHub App's user token is always empty: its permissions are the app's.
        payload |= {"token_type": "bearer", "scope": ""}
        payload["refresh_token_expires_in"] = terms.refresh_lifetime or 0
        return negotiated(request, payload)
    if request.host == "gitlab":
        payload["created_at"] = int(time.time())
    return json_answer(payload, headers=NOT_STORED)


def _bad_code(request: Request, message: str) -> Refused:
    code = "bad_verification_code" if request.host == "github" else "invalid_grant"
    return _refused(request, code, message)


def _refused(request: Request, code: str, message: str) -> Refused:
    """GitHub's errors come with the status 200."""
    return Refused(Problem(200 if request.host == "github" else 400, message, code))
