"""All sockets of one process: their streams, and the notifications that wake them.

There is one subscription to the notifier. One statement at a time reads all streams that have
grown, one reads all handshakes, one every few seconds checks all followed streams (a notification
may have been lost), and one at each tick checks the tokens; the tokens of an ended session are
checked when the notifier reports it. While the database or Redis is away sockets stay open, and
receive everything later. Readers of what is somebody else's are asked for their permission whenever
their own user's stream has grown.
"""

import asyncio
import contextvars
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings

from accounts.errors import InvalidToken
from accounts.selectors.users import find_refusal
from accounts.tokens import AccessClaims
from common.batching import Batcher
from common.database import DatabaseUnavailable, get_database
from common.errors import NotFound, ServiceUnavailable
from common.loop_local import LoopLocal
from common.times import iso_utc
from events import notifier
from events.errors import (
    SERVICE_RESTART,
    EventsPurged,
    Restarting,
    TooManySockets,
    close_code,
)
from events.metrics import open_sockets
from events.selectors import read_frames, read_heads, read_statuses
from events.subscribers import Buffer, Socket, Subscriber
from events.types import Opening, Place, Reading, StreamStatus
from events.watch import Permission, ResponseReader, Watch

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
# Seconds for the last events at the end of the process.
DRAIN_SECONDS = 1.0
# Streams in one statement: those that have grown, and those of subscribers that are behind.
LIVE_AT_ONCE = 32
BEHIND_AT_ONCE = 4
# Handshakes in one statement.
OPENED_AT_ONCE = 100
# Sockets that a tick writes to before it yields to others.
PINGED_AT_ONCE = 100


class Hub:
    """The sockets of one event loop."""

    def __init__(self) -> None:
        database = get_database()
        self.draining = False
        self._live = database.lane()
        self._behind: Batcher[Place, Reading] = Batcher(
            partial(read_frames, database.lane()), size=BEHIND_AT_ONCE, name="frames"
        )
        self._openings: Batcher[Opening, StreamStatus] = Batcher(
            partial(read_statuses, database.lane()), size=OPENED_AT_ONCE, name="openings"
        )
        self._buffers: dict[UUID, Buffer] = {}
        self._subscribers: set[Subscriber] = set()
        self._watch = Watch()
        self._sockets_of: Counter[UUID] = Counter()
        self._grown: set[Buffer] = set()
        self._reading: asyncio.Task[None] | None = None
        self._look_now = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def find_head(
        self,
        claims: AccessClaims,
        kind: str,
        stream_id: UUID,
        after_seq: int | None = None,
        *,
        owner_id: UUID | None = None,
    ) -> int:
        """The last seq of the stream, if it is of that kind, and of the account of the token, or of
        `owner_id`, which the caller has checked that the token's user may read.

        Raises InvalidToken, AccountSuspended, NotFound, DatabaseUnavailable, and EventsPurged where
        events after `after_seq` are deleted.
        """
        owner_id = owner_id or claims.user_id
        opening = Opening(claims.user_id, claims.session_id, kind, stream_id, owner_id)
        status, token_version, head, purged = await self._openings.run(opening)
        if refusal := find_refusal(status, token_version, claims.version):
            raise refusal
        if head is None or purged is None:
            raise NotFound
        if after_seq is not None and after_seq < purged:
            raise EventsPurged
        return head

    def check_room(self, user_id: UUID) -> None:
        """Raises TooManySockets, ServiceUnavailable where the process is full, and Restarting."""
        if self.draining:
            raise Restarting
        if len(self._subscribers) >= settings.MAX_SOCKETS:
            raise ServiceUnavailable
        if self._sockets_of[user_id] >= settings.MAX_SOCKETS_PER_USER:
            raise TooManySockets

    def follow(
        self,
        place: Place,
        head: int,
        claims: AccessClaims,
        socket: Socket,
        permission: Permission | None = None,
    ) -> Subscriber:
        """Deliver the events after `place`, once the subscriber is opened. `head` is the last seq
        of the stream, read just before; of somebody else's stream `permission` says whether to go
        on. Raises the errors of `check_room`."""
        self.check_room(claims.user_id)
        self._start()
        buffer = self._buffers.get(place.stream_id)
        if buffer is None:
            buffer = self._buffers[place.stream_id] = Buffer(place.stream_id, head)
            # Notifications since the head was read have been missed.
            self._read_on(buffer)
        subscriber = Subscriber(buffer, place.seq, claims, socket, self._behind, permission)
        buffer.subscribers.add(subscriber)
        self._subscribers.add(subscriber)
        self._watch.add(subscriber)
        self._sockets_of[claims.user_id] += 1
        open_sockets.inc()
        return subscriber

    def leave(self, subscriber: Subscriber) -> None:
        """The subscriber's socket has gone."""
        subscriber.leave()
        open_sockets.dec()
        self._subscribers.remove(subscriber)
        self._watch.remove(subscriber)
        subscriber.buffer.subscribers.remove(subscriber)
        if not subscriber.buffer.subscribers:
            del self._buffers[subscriber.buffer.stream_id]
        user_id = subscriber.claims.user_id
        self._sockets_of[user_id] -= 1
        if not self._sockets_of[user_id]:
            del self._sockets_of[user_id]

    @contextmanager
    def watched(
        self, claims: AccessClaims, end: Callable[[], None], permission: Permission | None = None
    ) -> Iterator[None]:
        """During the block, `end` is called when the token of these claims is revoked, or
        `permission` is lost. An expired token does not end a response that has begun."""
        self._start()
        reader = ResponseReader(claims, end, permission)
        self._watch.add(reader)
        try:
            yield
        finally:
            self._watch.remove(reader)

    def begin_drain(self) -> None:
        """Accept no more sockets, and close the open ones when they have all committed events:
        their clients connect to another process."""
        if not self.draining:
            self.draining = True
            self._tasks.append(asyncio.get_running_loop().create_task(self._drain()))

    async def close(self) -> None:
        """End the background tasks."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            # Not for ever: a layer that is being flushed swallows its cancellation.
            await asyncio.wait(self._tasks, timeout=1.0)

    async def _drain(self) -> None:
        with suppress(DatabaseUnavailable, TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._look_again()
                if self._reading is not None:
                    await asyncio.wait([self._reading])
                if writing := [task for f in self._subscribers if (task := f.writing)]:
                    await asyncio.wait(writing)
        for subscriber in self._subscribers:
            subscriber.end(SERVICE_RESTART)

    # --- Streams that have grown ------------------------------------------------------------------

    def _read_on(self, buffer: Buffer) -> None:
        self._grown.add(buffer)
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(
                self._read_grown(), context=contextvars.Context()
            )

    async def _read_grown(self) -> None:
        """Read the new events of streams until no stream has more. A failed read is repeated by the
        next check."""
        try:
            while self._grown:
                count = min(LIVE_AT_ONCE, len(self._grown))
                await self._read([self._grown.pop() for _ in range(count)])
        except DatabaseUnavailable:
            log.warning("events.not_read")
        except Exception:
            log.exception("events.not_read")
        finally:
            self._reading = None

    async def _read(self, buffers: list[Buffer]) -> None:
        places = [Place(buffer.stream_id, buffer.seq) for buffer in buffers]
        for buffer, reading in zip(buffers, await read_frames(self._live, places), strict=True):
            if reading.frames:
                buffer.add(reading.frames)
            if reading.has_more:
                self._grown.add(buffer)
            if reading.is_deleted:
                buffer.end(close_code(NotFound))
            for subscriber in buffer.subscribers:
                subscriber.wake()

    async def _look_again(self) -> None:
        """Find the streams that have grown, with or without a notification."""
        heads = await read_heads(list(self._buffers))
        for buffer in list(self._buffers.values()):
            if heads.get(buffer.stream_id, buffer.seq + 1) > buffer.seq:
                self._read_on(buffer)  # it has grown, or is deleted
            if all(subscriber.seq >= buffer.seq for subscriber in buffer.subscribers):
                buffer.forget()
            for subscriber in buffer.subscribers:
                subscriber.wake()  # a subscriber that failed to read for itself

    # --- Background tasks -------------------------------------------------------------------------

    def _start(self) -> None:
        steps = (self._listen, self._look, self._tick, self._watch.check_suspects)
        if not self._tasks:
            self._tasks = [self._keep(step) for step in steps]

    def _keep(self, step: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        """Repeat a step for ever. No error ends it: sockets would get no more events."""

        async def repeat() -> None:
            while True:
                try:
                    await step()
                except DatabaseUnavailable:
                    log.warning("events.database_away")
                except Exception:
                    log.exception("events.hub_failed")
                    await asyncio.sleep(LOOK_SECONDS)

        return asyncio.get_running_loop().create_task(repeat(), context=contextvars.Context())

    async def _listen(self) -> None:
        async for changed_ids in notifier.notifications():
            if not changed_ids:
                self._look_now.set()
            for changed in changed_ids:
                if buffer := self._buffers.get(changed):
                    self._read_on(buffer)
                self._watch.suspect(changed)

    async def _look(self) -> None:
        with suppress(TimeoutError):
            # Not wait_for, which may lose a cancellation before Python 3.12.
            async with asyncio.timeout(LOOK_SECONDS):
                await self._look_now.wait()
        self._look_now.clear()
        if self._buffers:
            await self._look_again()

    async def _tick(self) -> None:
        """End the sockets whose tokens are revoked, and ping the others."""
        await asyncio.sleep(settings.SOCKET_TICK_SECONDS)
        try:
            await self._watch.check_all()
        except DatabaseUnavailable:
            log.warning("events.tokens_not_checked")
        ping = f'{{"type":"ping","ts":"{iso_utc(datetime.now(UTC))}"}}'
        now = time.time()
        for number, subscriber in enumerate(list(self._subscribers)):
            if subscriber.claims.expires_at <= now:
                subscriber.end(close_code(InvalidToken))
            else:
                subscriber.note(ping)
            if number % PINGED_AT_ONCE == 0:
                await asyncio.sleep(0)


_hubs = LoopLocal(Hub)


def get_hub() -> Hub:
    """The running event loop's hub."""
    return _hubs.get()
