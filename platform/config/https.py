"""Redirects requests that reached the TLS proxy without TLS."""

from functools import cache
from urllib.parse import quote, urlsplit

from django.conf import settings

from publicapi.v1.app import is_served
from server.asgi import Application, Receive, Scope, Send, domain_of

_PERMANENT_REDIRECT = 308


def is_secure(scope: Scope) -> bool:
    """Did the client use TLS, according to the server or a trusted proxy?"""
    return scope.get("scheme") in ("https", "wss") or _forwarded_protocol(scope) == b"https"


def passed_proxy(scope: Scope) -> bool:
    """Did the request come by the TLS proxy? Probes ask each process by itself."""
    return bool(_forwarded_protocol(scope))


class RedirectToHttps:
    """Redirects clients that used plain HTTP to the same address with TLS.

    Only where the proxy says that they did: requests that do not pass the proxy, such as health
    checks, are served. `308` keeps method and body (RFC 9110, section 15.4.9).
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _forwarded_protocol(scope) == b"http":
            domain = domain_of(scope["headers"])
            # An unknown host is refused: the client would choose the target of the redirect.
            if is_served(domain):
                await _redirect(
                    f"https://{domain}{_port(settings.PUBLIC_BASE_URL)}{_target(scope)}", send
                )
                return
        await self._application(scope, receive, send)


@cache
def _port(public_address: str) -> str:
    """The port of TLS, such as `:8443`, where it is not the usual one. The host of the API has the
    same."""
    address = urlsplit(public_address)
    is_usual = address.scheme != "https" or address.port in (None, 443)
    return "" if is_usual else f":{address.port}"


def _target(scope: Scope) -> str:
    """The path and the query, unchanged."""
    raw_path = scope.get("raw_path")  # not every server sets it
    path = raw_path.decode("latin-1") if raw_path else quote(scope["path"])
    query = scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


async def _redirect(location: str, send: Send) -> None:
    headers = [(b"location", location.encode("latin-1")), (b"content-length", b"0")]
    status = _PERMANENT_REDIRECT
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _forwarded_protocol(scope: Scope) -> bytes:
    """The scheme of the request to the proxy; empty where no proxy is trusted."""
    if not settings.SECURE_PROXY_SSL_HEADER:
        return b""
    values = [value for name, value in scope["headers"] if name == b"x-forwarded-proto"]
    return values[0].strip() if len(values) == 1 else b""
