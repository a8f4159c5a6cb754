"""A job as its handler sees it."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from billing.types import Checkpoint
from events.notifier import notify
from events.types import NewEvent
from work.jobs.appends import Append, get_appender
from work.jobs.models import Job


class JobLost(Exception):
    """The job belongs to this process no more, or its stream is deleted: stop, and write
    nothing."""


class RunningJob:
    """A claimed job. `attempt` is the fence: every write for the job names it.

    `signal` is the user's request to the job; a handler that can be interrupted listens with
    `on_signal`. `lost` is set soon after the job has ended, whoever ended it. A handler that has
    ended its job, or scheduled it, may set `ended`, which saves a check.
    """

    def __init__(
        self,
        job_id: UUID,
        account_id: UUID,
        kind: str,
        attempt: int,
        signal: Job.Signal = Job.Signal.NONE,
    ) -> None:
        self.id = job_id
        self.account_id = account_id
        self.kind = kind
        self.attempt = attempt
        self.signal = signal
        self.lost = False
        self.ended = False
        self._listeners: list[Callable[[], None]] = []
        self._appending = asyncio.Lock()
        self._appends = 0

    def on_signal(self, listener: Callable[[], None]) -> None:
        """Call `listener` when a signal comes, or the job is lost; at once if that has happened."""
        self._listeners.append(listener)
        if self.signal or self.lost:
            asyncio.get_running_loop().call_soon(listener)

    async def append(
        self, stream_id: UUID, events: list[NewEvent], checkpoint: Checkpoint | None = None
    ) -> None:
        """Write progress to a stream, once, and notify its readers; and save the progress of the
        job's call with it. Appends of concurrent jobs share a round trip; while the database is
        away, this waits.

        Raises JobLost where the job has ended, or the stream is deleted.
        """
        async with self._appending:
            self._appends += 1
            item = Append(self.id, self.attempt, self._appends, stream_id, events, checkpoint)
            is_ours = await get_appender().append(item)
        if not is_ours:
            raise JobLost
        notify(stream_id)

    # --- The executor's side ----------------------------------------------------------------------

    def set_signal(self, signal: Job.Signal) -> None:
        """Deliver a signal to the handler, if it is a new one."""
        if self.signal != signal:
            self.signal = signal
            self._call_listeners()

    def mark_lost(self) -> None:
        """Notify the handler, once, that the job has ended."""
        if not self.lost:
            self.lost = True
            self._call_listeners()

    def forget_listeners(self) -> None:
        """Drop the listeners, which refer to the handler of a job that has ended."""
        self._listeners.clear()

    def _call_listeners(self) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener)
