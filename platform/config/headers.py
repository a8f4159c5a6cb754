"""The security headers of every response: of Django, `/v1`, refusals and files.

Headers that a response already has are kept, `Cache-Control` for example. All other responses are
not to be stored: they carry tokens, keys, conversations or money.
https://owasp.org/www-project-secure-headers/
"""

from collections.abc import Awaitable
from functools import cache

from django.conf import settings

from config.https import is_secure
from server.asgi import Application, Headers, Message, Receive, Scope, Send

_ALWAYS: Headers = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # Not `no-referrer`: browsers would hide the origin too, which Django compares with the host.
    (b"referrer-policy", b"same-origin"),
]
_PAGES: Headers = [
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
# For answers to programs, which are no pages.
_NO_PAGE = b"default-src 'none'; frame-ancestors 'none'"
# Alpine.js, the theme's library, evaluates expressions, and writes styles.
_ADMIN = (
    b"default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'"
)
# The pages that show the OpenAPI document set the rest themselves.
_DOCUMENTS = b"frame-ancestors 'none'"

_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})


class SecurityHeaders:
    """Adds the missing headers to each response of `application`, and to handshakes."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = _wanted(_policy(scope["path"]), is_secure(scope))

        # Not a coroutine of its own: it is called for each chunk of a stream.
        def complete(message: Message) -> Awaitable[None]:
            if message["type"] in _STARTS:
                message = {**message, "headers": _completed(message.get("headers", []), wanted)}
            return send(message)

        await self._application(scope, receive, complete)


def _policy(path: str) -> bytes:
    if path.startswith("/admin/"):
        return _ADMIN
    return _DOCUMENTS if path in ("/docs", "/redoc") else _NO_PAGE


@cache
def _wanted(policy: bytes, secure: bool) -> Headers:
    wanted = [*_ALWAYS, (b"content-security-policy", policy)]
    if policy is not _NO_PAGE:
        wanted += _PAGES
    if secure and settings.SECURE_HSTS_SECONDS:
        value = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains"
        wanted.append((b"strict-transport-security", value.encode()))
    return wanted


def _completed(headers: Headers, wanted: Headers) -> Headers:
    names = {name.lower() for name, _ in headers}
    return [*headers, *(field for field in wanted if field[0] not in names)]
