"""Follows a stream over HTTP: all of its events, from the first one on, as they come."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from accounts.tokens import AccessClaims
from events.hub import get_hub
from events.subscribers import Socket
from events.types import Place
from events.watch import Permission

# Frames read ahead of a slow client: the subscriber keeps a page of the hub's, too.
READ_AHEAD = 8


@contextmanager
def tail(
    claims: AccessClaims, place: Place, head: int, permission: Permission | None = None
) -> Iterator[AsyncIterator[str]]:
    """The JSON of each event after `place`, and of the hub's pings. `head` is the stream's last
    seq, read just before (`Hub.find_head`).

    Ends where a socket would be closed: the token is revoked, `permission` is lost, or the process
    ends. Raises
    TooManySockets, ServiceUnavailable and Restarting on entering.
    """
    hub = get_hub()
    texts: asyncio.Queue[str | None] = asyncio.Queue(READ_AHEAD)

    async def close(code: int) -> None:
        await texts.put(None)

    subscriber = hub.follow(place, head, claims, Socket(texts.put, close), permission)
    try:
        subscriber.open()
        yield _items(texts)
    finally:
        hub.leave(subscriber)


async def _items(texts: asyncio.Queue[str | None]) -> AsyncIterator[str]:
    while (text := await texts.get()) is not None:
        yield text
