"""The terms of ASGI, and how a body that is refused is read all the same."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

# A body that is refused for its size is still read up to here, because most clients only look at
# the answer when they have sent everything.
DISCARD_BYTES = 64 * 1024 * 1024
DISCARD_SECONDS = 10.0


async def discard_body(receive: Receive, message: Message, size: int) -> None:
    """Read on after `message`, and keep nothing, until the body ends or is too long or too slow.

    `size` is how many bytes have come by then.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while message.get("more_body") and size < DISCARD_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
