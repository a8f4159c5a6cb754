"""What running jobs write to streams, in batches."""

import asyncio
from itertools import chain, repeat
from uuid import UUID

import msgspec
import psycopg
import structlog
from msgspec import Struct

from common.batching import Batcher
from common.database import DatabaseUnavailable, get_database
from common.perloop import PerLoop
from events.types import NewEvent

log = structlog.get_logger(__name__)

_APPEND = "SELECT job_append(%s)"
PAUSES = (0.1, 0.2, 0.5)
LONGEST_PAUSE = 1.0


class Append(Struct, frozen=True):
    """Events of a job that runs under that attempt. `number` counts the appends of the attempt, so
    that one which is sent again is written once."""

    job: UUID
    attempt: int
    number: int
    stream: UUID
    events: list[NewEvent]


class Appender:
    """The appends of one event loop, which go to the database together.

    What a batch could not do, because a stream was locked or another item broke it, goes alone.
    """

    def __init__(self) -> None:
        self._database = get_database()
        self._lane = self._database.lane()
        self._batcher = Batcher(self._append_many)

    async def append(self, item: Append) -> bool:
        """Write the events once the database is there. False where the job has ended."""
        for pause in chain(PAUSES, repeat(LONGEST_PAUSE)):
            try:
                return await self._append(item)
            except DatabaseUnavailable:
                log.warning("job.not_appended", job_id=str(item.job))
                await asyncio.sleep(pause)
        raise AssertionError("The pauses never end.")

    async def _append(self, item: Append) -> bool:
        is_written = await self._batcher.run(item)
        if is_written is None:
            (is_written,) = await self._database.row(_APPEND, (_encode([item]),))
        return bool(is_written)

    async def _append_many(self, items: list[Append]) -> list[bool | None]:
        """Whether each is written; None for each that has to go alone."""
        try:
            rows = await self._lane.rows(_APPEND, (_encode(items),))
        except psycopg.Error:
            return [None] * len(items)
        return [row[0] for row in rows]


def _encode(items: list[Append]) -> str:
    return msgspec.json.encode(items).decode()


_appenders = PerLoop(Appender)


def get_appender() -> Appender:
    """The running event loop's appender."""
    return _appenders.get()
