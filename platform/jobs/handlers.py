"""The handlers of each kind of job. An app registers its handlers when it is ready."""

from typing import Protocol
from uuid import UUID

from jobs.running import RunningJob


class LostJobHandler(Protocol):
    """Ends jobs of one kind that no process runs any more."""

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End a job whose process died, or that its handler left running.

        Synchronous, a transaction of its own, and without effect where the job has ended meanwhile.
        """
        ...


class Handler(LostJobHandler, Protocol):
    """Runs the jobs of one kind."""

    async def run(self, job: RunningJob) -> None:
        """Run the job, and end it (`jobs.services.end`) in the transaction of its result.

        On the worker's event loop: code that uses the ORM goes through `common.threads.in_thread`.
        An exception is a bug, and the job is ended as lost.
        """
        ...


_handlers: dict[str, Handler] = {}
_lost_job_handlers: dict[str, LostJobHandler] = {}


def register(kind: str, handler: Handler) -> None:
    """Register a handler for workers."""
    _handlers[kind] = _lost_job_handlers[kind] = handler


def register_begun(kind: str, handler: LostJobHandler) -> None:
    """Register a kind that begins in the process of its request (`jobs.services.begin`). Workers do
    not run such jobs."""
    _lost_job_handlers[kind] = handler


def get_handler(kind: str) -> Handler:
    """The handler of that kind. Raises KeyError."""
    return _handlers[kind]


def get_lost_job_handler(kind: str) -> LostJobHandler:
    """The handler of lost jobs of that kind. Raises KeyError."""
    return _lost_job_handlers[kind]


def kinds() -> list[str]:
    """All kinds that are registered in this process."""
    return list(_lost_job_handlers)


def claimable_kinds() -> list[str]:
    """The kinds that this process can run. Jobs of other kinds are left to other processes."""
    return list(_handlers)


def begun_kinds() -> list[str]:
    """The kinds that begin in the process of their request."""
    return [kind for kind in _lost_job_handlers if kind not in _handlers]
