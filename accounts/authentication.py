"""Authentication of `/api`."""

from uuid import UUID

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from accounts import tokens
from accounts.errors import InvalidToken
from accounts.models import User
from accounts.selectors.users import find_refusals, get_live_user
from accounts.tokens import AccessClaims
from common import request_line
from common.errors import Unauthenticated
from server.asgi import Headers


class AccessTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <access token>` (RFC 6750): the user, and the token's claims. Raises
    InvalidToken, AccountSuspended."""

    def authenticate(self, request: Request) -> tuple[User, AccessClaims] | None:
        token = _bearer(get_authorization_header(request))
        if token is None:
            return None
        claims = tokens.read_access(token)
        user = get_live_user(claims)
        request_line.current().account_id = claims.user_id
        return user, claims

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


async def authenticate(headers: Headers) -> UUID:
    """The user of the access token in these headers; for event loops.

    Raises Unauthenticated, InvalidToken, AccountSuspended, DatabaseUnavailable.
    """
    claims = read_claims(headers)
    if claims is None:
        raise Unauthenticated
    [refusal] = await find_refusals([claims])
    if refusal:
        raise refusal
    request_line.current().account_id = claims.user_id
    return claims.user_id


def read_claims(headers: Headers) -> AccessClaims | None:
    """The claims of the access token in these headers, if there is one. Revocation is not checked.
    Raises InvalidToken."""
    token = _bearer(b",".join(value for name, value in headers if name == b"authorization"))
    return None if token is None else tokens.read_access(token)


def is_signed_in(headers: Headers) -> bool:
    """Do these headers carry a valid access token? Revocation is not checked."""
    try:
        return read_claims(headers) is not None
    except InvalidToken:
        return False


def _bearer(header: bytes) -> str | None:
    """The token of an `Authorization` header of that scheme. Raises InvalidToken."""
    scheme, _, token = header.partition(b" ")
    if scheme.lower() != b"bearer":
        return None
    try:
        return token.strip().decode("ascii")
    except UnicodeDecodeError:
        raise InvalidToken from None
