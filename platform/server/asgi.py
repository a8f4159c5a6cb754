"""The types of ASGI, and the host of a request."""

from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

from django.http.request import split_domain_port

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# A name of 253 characters and a port. Longer ones are not kept in memory.
MAX_HOST = 260


def domain_of(headers: Headers) -> str:
    """The host of a request: lower case, without port and trailing dot, IPv6 in brackets.

    Empty where `Host` is missing, malformed, or repeated: two readers could pick different ones.
    `X-Forwarded-Host` is ignored.
    """
    hosts = [value for name, value in headers if name == b"host"]
    return _domain(hosts[0]) if len(hosts) == 1 and len(hosts[0]) <= MAX_HOST else ""


@lru_cache(maxsize=256)
def _domain(host: bytes) -> str:
    domain, _ = split_domain_port(host.decode("latin-1"))
    return domain
