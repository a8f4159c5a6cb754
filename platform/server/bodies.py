"""Limits for request bodies: length, speed, and memory of all bodies together.

All HTTP endpoints read bodies through this module. Django reads a whole body before any of its code
can refuse it, and never ends a body that stays open.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

from common.errors import DomainError, MalformedRequest
from common.memory_budget import MemoryBudget, Share
from server.asgi import Headers, Message, Receive, Scope
from server.client_ip import client_ip
from server.discards import get_discard_pacer

MB = 1024 * 1024
# Bytes of all bodies of a process, in memory and, where they bring files, on disk. A body for
# Django counts until it is answered, one for `/v1` until it has been read: MAX_OPEN_CALLS bounds
# what its call keeps of it.
MAX_BYTES = 512 * MB
# The long bodies of one user: those that bring files or go to `/v1`.
MAX_LONG_BYTES_OF_USER = 192 * MB
# All other bodies of one user.
MAX_BYTES_OF_USER = 32 * MB
# The bodies from one address that name no user.
MAX_BYTES_OF_ADDRESS = 16 * MB

# A body may take this long, and a second more for each 100,000 bytes so far: 0.8 Mbit/s.
FIRST_SECONDS = 30.0
BYTES_PER_SECOND = 100_000
# The longest pause between two parts of a body.
SILENT_SECONDS = 20.0

# A refused body is still read up to this length, because most clients read the answer only when
# they have sent everything.
DISCARD_BYTES = 64 * MB
DISCARD_SECONDS = 10.0

_budget = MemoryBudget(MAX_BYTES)


@dataclass(frozen=True, slots=True)
class Sender:
    """The owner of the memory that a body takes, and the owner's limit."""

    name: str
    most: int


def user(user_id: UUID) -> Sender:
    return Sender(f"user:{user_id}", MAX_BYTES_OF_USER)


def user_of_long_ones(user_id: UUID) -> Sender:
    return Sender(f"long:{user_id}", MAX_LONG_BYTES_OF_USER)


def address(scope: Scope) -> Sender:
    """The sender of a request that names no user."""
    return Sender(f"address:{client_ip(scope)}", MAX_BYTES_OF_ADDRESS)


class BodyTooSlow(MalformedRequest):
    message = "The body did not arrive in time."


class Body:
    """One body while it is received; `size` is the number of bytes so far."""

    def __init__(
        self, receive: Receive, share: Share, *, limit: int, too_large: DomainError
    ) -> None:
        self.size = 0
        self.is_whole = False  # has the body ended, or the client gone?
        self._receive = receive
        self._share = share
        self._limit = limit
        self._too_large = too_large
        self._began = asyncio.get_running_loop().time()

    async def receive(self) -> Message:
        """Receive the next message, within the body's time limit; after the body, any message.

        Raises `too_large` over `limit` bytes, BodyTooSlow, or ServiceUnavailable where the memory
        of the process or of the sender is used up.
        """
        if self.is_whole:
            return await self._receive()
        message = await self._in_time()
        part = self._note(message)
        if self.size > self._limit:
            raise self._too_large
        self._share.reserve(part)
        return message

    async def discard(self) -> None:
        """Read and discard until the body ends or is too long or too slow."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                while not self.is_whole and self.size < DISCARD_BYTES:
                    await get_discard_pacer().wait_for_turn(self._share.owner)
                    self._note(await self._receive())

    def _note(self, message: Message) -> int:
        """Count the bytes of a message, and return their number."""
        part = len(message.get("body", b""))
        self.size += part
        self.is_whole = not message.get("more_body")
        return part

    async def _in_time(self) -> Message:
        now = asyncio.get_running_loop().time()
        by_pace = self._began + FIRST_SECONDS + self.size / BYTES_PER_SECOND
        try:
            async with asyncio.timeout_at(min(by_pace, now + SILENT_SECONDS)):
                return await self._receive()
        except TimeoutError:
            raise BodyTooSlow from None


@contextmanager
def incoming(
    receive: Receive, sender: Sender, *, limit: int, too_large: DomainError
) -> Iterator[Body]:
    """A body of `sender`; its memory is released after the block."""
    with _budget.share(sender.name, sender.most) as share:
        yield Body(receive, share, limit=limit, too_large=too_large)


def is_announced(headers: Headers) -> bool:
    """Does a request have a body (RFC 9112, section 6.3)?"""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
        for name, value in headers
    )
