"""A job as its handler sees it."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from billing.types import Checkpoint
from events.notifier import notify
from events.types import NewEvent
from jobs.appends import Append, get_appender
from jobs.models import Job


class JobLost(Exception):
    """The job is not ours any more, or nobody is told of it: stop, and write nothing."""


class RunningJob:
    """A claimed job. `attempt` is the fence: every write for the job names it.

    `signal` is what the job's owner wants of it; who can be interrupted listens with `on_signal`.
    `lost` is set soon after the job has ended, whoever ended it. A handler that knows so may set
    `ended`, and nobody needs to look.
    """

    def __init__(self, job_id: UUID, account_id: UUID, kind: str, attempt: int) -> None:
        self.id = job_id
        self.account_id = account_id
        self.kind = kind
        self.attempt = attempt
        self.signal = Job.Signal.NONE
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
        """Write progress to a stream, once, and notify its readers; and with it how far the call of
        the job has come. Appends of jobs that run at once share a round trip; while the database is
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

    # --- The host's side --------------------------------------------------------------------------

    def hear(self, signal: Job.Signal) -> None:
        """Tell the handler what is wanted of it; again only if that has changed."""
        if self.signal != signal:
            self.signal = signal
            self._call_listeners()

    def lose(self) -> None:
        """Tell the handler, once, that the job has ended."""
        if not self.lost:
            self.lost = True
            self._call_listeners()

    def _call_listeners(self) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            loop.call_soon(listener)
