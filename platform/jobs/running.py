"""A job as its handler sees it."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from events.types import NewEvent
from jobs.models import Job


class JobLost(Exception):
    """The job is not ours any more: stop, and write nothing."""


class RunningJob:
    """A claimed job. `attempt` is the fence: every write for the job names it.

    `wish` is what the job's owner wants of it; whoever can be interrupted listens with `on_wish`.
    `lost` is set when somebody else has ended the job.
    """

    def __init__(self, job_id: UUID, account_id: UUID, kind: str, attempt: int) -> None:
        self.id = job_id
        self.account_id = account_id
        self.kind = kind
        self.attempt = attempt
        self.wish = Job.Wish.NONE
        self.lost = False
        self._listeners: list[Callable[[], None]] = []

    def on_wish(self, listener: Callable[[], None]) -> None:
        """Call `listener` when a wish comes, or the job is lost; at once if that has happened."""
        self._listeners.append(listener)
        if self.wish or self.lost:
            asyncio.get_running_loop().call_soon(listener)

    async def append(self, stream_id: UUID, events: list[NewEvent]) -> None:
        """Write progress to a stream. Appends of jobs that run at once share a round trip.

        Raises JobLost where the job has ended, and DatabaseUnavailable, with unknown outcome.
        """
        raise NotImplementedError
