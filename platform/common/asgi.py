"""The terms of ASGI, whom a request is for, and how a body that is refused is read all the same."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from django.http.request import split_domain_port

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# A body that is refused for its size is still read up to here, because most clients only look at
# the answer when they have sent everything.
DISCARD_BYTES = 64 * 1024 * 1024
DISCARD_SECONDS = 10.0
# A name of 253 characters and a port. Longer ones are not kept in memory either.
MAX_HOST = 260


def domain_of(headers: Headers) -> str:
    """The host a request is for: lower case, without port and trailing dot, IPv6 in brackets.

    Empty where `Host` is missing, malformed, or there twice: two readers could take it for two
    hosts. `X-Forwarded-Host` is not believed.
    """
    hosts = [value for name, value in headers if name == b"host"]
    return _domain(hosts[0]) if len(hosts) == 1 and len(hosts[0]) <= MAX_HOST else ""


@lru_cache(maxsize=256)
def _domain(host: bytes) -> str:
    domain, _ = split_domain_port(host.decode("latin-1"))
    return domain


async def discard_body(receive: Receive, message: Message, size: int) -> None:
    """Read on after `message`, and keep nothing, until the body ends or is too long or too slow.

    `size` is how many bytes have come by then.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while message.get("more_body") and size < DISCARD_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
