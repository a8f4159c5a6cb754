"""One socket's place in a stream, and the delivery of the next events."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

import structlog

from accounts.tokens import AccessClaims
from common.batching import Batcher
from common.database import DatabaseUnavailable
from common.errors import NotFound
from events.errors import INTERNAL_ERROR, EventsPurged, close_code
from events.feed import Feed
from events.metrics import count_delivery
from events.types import Frame, Place, Reading
from events.watch import Permission

log = structlog.get_logger(__name__)


class Socket(NamedTuple):
    """The connection of a follower. `send` waits for a client that reads slowly, and raises OSError
    where the client has gone; `close` takes a code."""

    send: Callable[[str], Awaitable[None]]
    close: Callable[[int], Awaitable[None]]


class Follower:
    """Writes to one socket, in a task that exists only while there is something to write.

    It keeps only the page that it is writing, so a slow client costs as little memory as a quick
    one. `seq` is the last event written. A follower that is further behind than the feed's frames
    reads pages of its own through `behind`.
    """

    __slots__ = (
        "_behind",
        "_close_code",
        "_is_open",
        "_live_from",
        "_note",
        "_socket",
        "_writing",
        "claims",
        "feed",
        "permission",
        "seq",
    )

    def __init__(
        self,
        feed: Feed,
        seq: int,
        claims: AccessClaims,
        socket: Socket,
        behind: Batcher[Place, Reading],
        permission: Permission | None = None,
    ) -> None:
        self.feed = feed
        self.seq = seq
        self.claims = claims
        self.permission = permission
        self._socket = socket
        self._behind = behind
        self._note: str | None = None
        self._close_code: int | None = None
        self._is_open = False
        # Events up to here are a replay: they are not late.
        self._live_from = feed.seq
        self._writing: asyncio.Task[None] | None = None

    @property
    def writing(self) -> asyncio.Task[None] | None:
        """The task that writes, if there is something to write."""
        return self._writing

    def open(self) -> None:
        """Start writing: the socket is accepted."""
        self._is_open = True
        self.wake()

    def wake(self) -> None:
        """Check for something to write."""
        if self._is_open and self._writing is None and self._is_due():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def leave(self) -> None:
        """Stop: the socket has gone."""
        self._is_open = False
        if self._writing is not None:
            self._writing.cancel()

    def note(self, text: str) -> None:
        """Send a message that is no event, after the current page."""
        self._note = text
        self.wake()

    def end(self, code: int) -> None:
        """Close the socket, even if there are events left to write."""
        self._close_code = self._close_code or code
        self.wake()

    def _is_due(self) -> bool:
        return self.seq < self.feed.seq or self._note is not None or self._close_code is not None

    async def _write(self) -> None:
        """The outermost handler of the task: a bug ends this socket and no other."""
        try:
            with suppress(OSError):  # the client has gone
                await self._write_all()
        except DatabaseUnavailable:
            log.warning("events.follower_waits", stream_id=str(self.feed.stream_id))
        except Exception:
            log.exception("events.follower_failed", stream_id=str(self.feed.stream_id))
            await self._close(INTERNAL_ERROR)
        finally:
            self._writing = None

    async def _write_all(self) -> None:
        while self._is_due():
            if self._close_code is not None:
                await self._close(self._close_code)
                return
            if note := self._note:
                self._note = None
                await self._socket.send(note)
            for frame in await self._next_frames():
                if self._close_code is not None:
                    break
                await self._socket.send(frame.text)
                self.seq = frame.seq
            self._count_delivery()

    def _count_delivery(self) -> None:
        """Once for a page: for the last of its events, if that is the last of the stream."""
        at = self.feed.written_at
        if at is not None and self.seq == self.feed.seq and self.seq > self._live_from:
            self._live_from = self.seq
            count_delivery(at)

    async def _next_frames(self) -> list[Frame]:
        frames = self.feed.after(self.seq)
        if frames is None:
            page = await self._behind.run(Place(self.feed.stream_id, self.seq))
            frames = page.frames
            if page.is_deleted:
                self.end(close_code(NotFound))
            elif not frames or frames[0].seq > self.seq + 1:
                self.end(close_code(EventsPurged))
        return frames

    async def _close(self, code: int) -> None:
        self._is_open = False
        await self._socket.close(code)
