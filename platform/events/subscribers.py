"""The sockets of a process that follow a stream: its latest events, which are read once for all of
them, and the delivery to each."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple
from uuid import UUID

import structlog

from accounts.tokens import AccessClaims
from common.batching import Batcher
from common.database import DatabaseUnavailable
from common.errors import NotFound
from events.errors import INTERNAL_ERROR, EventsPurged, close_code
from events.metrics import count_delivery, written_at
from events.types import Frame, Place, Reading
from events.watch import Permission

log = structlog.get_logger(__name__)

# Bytes that are kept of the events before the last page, for subscribers that are a little behind.
KEPT_BYTES = 32 * 1024


class Buffer:
    """`seq` is the last event that was read. A buffer exists as long as it has subscribers."""

    def __init__(self, stream_id: UUID, seq: int) -> None:
        self.stream_id = stream_id
        self.seq = seq
        # When the last event was written, of those that were read since the buffer exists.
        self.written_at: float | None = None
        self.subscribers: set[Subscriber] = set()
        # Without gaps, up to `seq`.
        self._frames: deque[Frame] = deque()
        self._size = 0

    def add(self, page: Sequence[Frame]) -> None:
        """Append the next events."""
        self._frames.extend(page)
        self._size += sum(len(frame.text) for frame in page)
        while self._size > KEPT_BYTES and len(self._frames) > len(page):
            self._size -= len(self._frames.popleft().text)
        self.seq = page[-1].seq
        self.written_at = written_at(page[-1])

    def after(self, seq: int) -> list[Frame] | None:
        """The events after `seq` that were read; None where some of them are not kept."""
        missing = self.seq - seq
        if missing > len(self._frames):
            return None
        return list(islice(self._frames, len(self._frames) - missing, None)) if missing > 0 else []

    def end(self, code: int) -> None:
        """Close the sockets of all subscribers."""
        for subscriber in self.subscribers:
            subscriber.end(code)

    def forget(self) -> None:
        """Drop the frames: all subscribers have them."""
        self._frames.clear()
        self._size = 0


class Socket(NamedTuple):
    """The connection of a subscriber. `send` waits for a client that reads slowly, and raises
    OSError where the client has gone; `close` takes a code."""

    send: Callable[[str], Awaitable[None]]
    close: Callable[[int], Awaitable[None]]


class Subscriber:
    """Writes to one socket, in a task that exists only while there is something to write.

    It keeps only the page that it is writing, so a slow client costs as little memory as a quick
    one. `seq` is the last event written. A subscriber that is further behind than the buffer's
    frames reads pages of its own through `behind`.
    """

    __slots__ = (
        "_behind",
        "_close_code",
        "_is_open",
        "_live_from",
        "_note",
        "_socket",
        "buffer",
        "claims",
        "permission",
        "seq",
        "writing",
    )

    def __init__(
        self,
        buffer: Buffer,
        seq: int,
        claims: AccessClaims,
        socket: Socket,
        behind: Batcher[Place, Reading],
        permission: Permission | None = None,
    ) -> None:
        self.buffer = buffer
        self.seq = seq
        self.claims = claims
        self.permission = permission
        self._socket = socket
        self._behind = behind
        self._note: str | None = None
        self._close_code: int | None = None
        self._is_open = False
        # Events up to here are a replay: they are not late.
        self._live_from = buffer.seq
        # The task that writes, if there is something to write.
        self.writing: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start writing: the socket is accepted."""
        self._is_open = True
        self.wake()

    def wake(self) -> None:
        """Check for something to write."""
        if self._is_open and self.writing is None and self._is_due():
            self.writing = asyncio.get_running_loop().create_task(self._write())

    def leave(self) -> None:
        """Stop: the socket has gone."""
        self._is_open = False
        if self.writing is not None:
            self.writing.cancel()

    def note(self, text: str) -> None:
        """Send a message that is no event, after the current page."""
        self._note = text
        self.wake()

    def end(self, code: int) -> None:
        """Close the socket, even if there are events left to write."""
        self._close_code = self._close_code or code
        self.wake()

    def _is_due(self) -> bool:
        return self.seq < self.buffer.seq or self._note is not None or self._close_code is not None

    async def _write(self) -> None:
        """The outermost handler of the task: a bug ends this socket and no other."""
        try:
            with suppress(OSError):  # the client has gone
                await self._write_all()
        except DatabaseUnavailable:
            log.warning("events.subscriber_waits", stream_id=str(self.buffer.stream_id))
        except Exception:
            log.exception("events.subscriber_failed", stream_id=str(self.buffer.stream_id))
            await self._close(INTERNAL_ERROR)
        finally:
            self.writing = None

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
        at = self.buffer.written_at
        if at is not None and self.seq == self.buffer.seq and self.seq > self._live_from:
            self._live_from = self.seq
            count_delivery(at)

    async def _next_frames(self) -> list[Frame]:
        frames = self.buffer.after(self.seq)
        if frames is None:
            page = await self._behind.run(Place(self.buffer.stream_id, self.seq))
            frames = page.frames
            if page.is_deleted:
                self.end(close_code(NotFound))
            elif not frames or frames[0].seq > self.seq + 1:
                self.end(close_code(EventsPurged))
        return frames

    async def _close(self, code: int) -> None:
        self._is_open = False
        await self._socket.close(code)
