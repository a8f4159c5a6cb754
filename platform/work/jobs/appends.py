"""Appends of running jobs to streams, in batches."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID
from weakref import WeakValueDictionary

import msgspec
import psycopg
import structlog
from msgspec import Struct

from billing.types import Checkpoint
from common.backoff import backoff
from common.batching import Batcher
from common.database import DatabaseUnavailable, get_database
from common.loop_local import LoopLocal
from events.types import NewEvent

log = structlog.get_logger(__name__)

_APPEND = "SELECT job_append(%s)"
_APPEND_ALONE = "SELECT job_append_alone(%s)"
PAUSES = (0.1, 0.2, 0.5, 1.0)


class Append(Struct, frozen=True):
    """Events of a job that runs under that attempt. `number` counts the appends of the attempt, so
    that a repeated append is written once. `checkpoint` is the progress of the call that produced
    the events, saved with them."""

    job: UUID
    attempt: int
    number: int
    stream: UUID
    events: list[NewEvent]
    checkpoint: Checkpoint | None = None


class Appender:
    """The appends of one event loop, which go to the database in batches.

    An append that its batch could not do, because of a locked stream or charge or an error in
    another item, is sent alone.
    """

    def __init__(self) -> None:
        self._database = get_database()
        self._lane = self._database.lane()
        self._batcher = Batcher(self._append_many, name="appends")
        self._turns: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def append(self, item: Append) -> bool:
        """Write the events as soon as the database is available. False where the job has ended."""
        is_written = await _persist(self._batcher.run, item)
        if is_written is None:
            is_written = await _persist(self._append_alone, item)
        return bool(is_written)

    async def _append_alone(self, item: Append) -> bool:
        """One at a time for each stream: a locked stream takes one connection, however many jobs
        write to it."""
        turn = self._turns.setdefault(item.stream, asyncio.Lock())
        async with turn:
            (is_written,) = await self._database.row(_APPEND_ALONE, (_encode([item]),))
        return bool(is_written)

    async def _append_many(self, items: list[Append]) -> list[bool | None]:
        """Whether each was written; None for each that has to be sent alone."""
        try:
            rows = await self._lane.rows(_APPEND, (_encode(items),))
        except psycopg.Error:
            return [None] * len(items)
        return [row[0] for row in rows]


async def _persist(write: Callable[[Append], Awaitable[bool | None]], item: Append) -> bool | None:
    """The result of `write`, repeated until the database answers."""
    for pause in backoff(*PAUSES):
        try:
            return await write(item)
        except DatabaseUnavailable:
            log.warning("job.not_appended", job_id=str(item.job))
            await asyncio.sleep(pause)
    raise AssertionError("The pauses never end.")


def _encode(items: list[Append]) -> str:
    return msgspec.json.encode(items).decode()


_appenders = LoopLocal(Appender)


def get_appender() -> Appender:
    """The running event loop's appender."""
    return _appenders.get()
