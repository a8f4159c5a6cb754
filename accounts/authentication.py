"""How `/api` knows who is calling."""

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.request import Request

from accounts.errors import InvalidToken
from accounts.models import User
from accounts.selectors.users import get_user_for_access_token


class AccessTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <access token>` (RFC 6750). Raises InvalidToken, AccountSuspended."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        scheme, _, token = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        try:
            return get_user_for_access_token(token.strip().decode("ascii")), None
        except UnicodeDecodeError:
            raise InvalidToken from None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'
