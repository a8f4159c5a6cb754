"""The ends of grants at the client's wish, which each server does in its own way."""

import msgspec

from simulator.oauth.exchange import Answer, Request, json_answer, read
from simulator.oauth.registration import is_authenticated, is_basic
from simulator.provider import Problem, Refused


class _OfGitHub(msgspec.Struct):
    access_token: str


def github(request: Request) -> Answer:
    """End all tokens of the person whose living access token this is. Raises `Refused`."""
    if not is_basic(request):
        raise Refused(Problem(401, "Bad credentials"))
    if request.basic is None or request.path["client_id"] != request.basic[0]:
        raise Refused(Problem(404, "Not Found"))
    try:
        text = read(request.body, _OfGitHub).access_token
    except Refused as refusal:
        raise Refused(Problem(422, "`access_token` is missing.")) from refusal
    token = request.state.tokens.find("github", text)
    if token is None:
        raise Refused(Problem(404, "Not Found"))
    request.state.tokens.revoke_login("github", token.login)
    return Answer(204)


def gitlab(request: Request) -> Answer:
    """End an access token and its refresh token (RFC 7009); one that is unknown is no error. Raises
    `Refused`."""
    if not is_authenticated(request):
        words = "The client may not revoke this token."
        raise Refused(Problem(403, words, "unauthorized_client"))
    token = request.state.tokens.find_any("gitlab", request.form.get("token", ""))
    if token is not None:
        request.state.tokens.revoke(token)
    return json_answer({})


def google(request: Request) -> Answer:
    """End the person's grant, by an access or refresh token of it. Raises `Refused`."""
    text = request.form.get("token") or request.query.get("token", "")
    token = request.state.tokens.find_any("google", text)
    if token is None:
        raise Refused(Problem(400, "The token has expired or is revoked.", "invalid_token"))
    request.state.tokens.revoke_login("google", token.login)
    return json_answer({})
