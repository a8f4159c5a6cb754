"""The cookie that keeps the refresh token of a page of ours (docs/decisions/0083).

A page that asks for it with `cookie` never sees the token. The browser sends it to the refresh path
alone, and to nobody else; all other requests carry the access token, as those of other clients do.
"""

from urllib.parse import urlsplit

from django.conf import settings
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ForeignOrigin, NotSignedIn
from accounts.types import SignedIn

NAME = "refresh_token"
PATH = "/api/auth/refresh"

_USUAL_PORTS = {"http": 80, "https": 443}


def require_own_page(request: Request) -> None:
    """Raises ForeignOrigin unless a page of ours sends the request: a browser attaches the cookie
    whichever page asks it to."""
    if not _is_of_own_page(request):
        raise ForeignOrigin


def read(request: Request) -> str:
    """The refresh token in the cookie. Raises NotSignedIn where there is none."""
    token = request.COOKIES.get(NAME, "")
    if not token:
        raise NotSignedIn
    return token


def put(request: Request, response: Response, signed_in: SignedIn) -> None:
    """Set the cookie, until its token expires."""
    response.set_cookie(
        NAME,
        signed_in.refresh_token,
        max_age=signed_in.refresh_expires_in,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Strict",
    )


def remove(response: Response) -> None:
    """Have the browser forget the cookie."""
    response.delete_cookie(NAME, path=PATH, samesite="Strict")


def signed_out(request: Request) -> Response:
    """The answer to an act that has ended the session of the request. A page of ours forgets its
    cookie, which the request does not show; other clients have none."""
    response = Response(status=status.HTTP_204_NO_CONTENT)
    if _is_of_own_page(request):
        remove(response)
    return response


def _is_of_own_page(request: Request) -> bool:
    """Browsers send `Origin` with every POST and DELETE, and no script can change it."""
    own = {
        f"{request.scheme}://{request.get_host()}".lower(),
        _origin(settings.WEB_APP_URL),
        _origin(settings.PUBLIC_BASE_URL),
    }
    return request.headers.get("Origin") in own


def _origin(address: str) -> str:
    """The origin of an address, as browsers write it: the usual port is left out."""
    parts = urlsplit(address)
    port = parts.port
    place = "" if port in (None, _USUAL_PORTS.get(parts.scheme)) else f":{port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{place}"
