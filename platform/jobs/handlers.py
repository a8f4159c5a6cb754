"""Who does which kind of job. An app registers its handlers when it is ready."""

from typing import Protocol
from uuid import UUID

from jobs.running import RunningJob


class LostJobHandler(Protocol):
    """Ends those jobs of one kind that nobody does any more."""

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End a job whose process died, or that was left running.

        Synchronous, a transaction of its own, and harmless where the job has ended meanwhile.
        """
        ...


class Handler(LostJobHandler, Protocol):
    """Does the jobs of one kind."""

    async def run(self, job: RunningJob) -> None:
        """Do it, and end it (`jobs.services.end`) in the transaction of what came of it.

        On the worker's event loop: what uses the ORM goes through `common.threads.in_thread`. What
        this raises is a fault of ours, and the job is ended as lost.
        """
        ...


_handlers: dict[str, Handler] = {}
_lost_job_handlers: dict[str, LostJobHandler] = {}


def register(kind: str, handler: Handler) -> None:
    """Let workers do the jobs of that kind."""
    _handlers[kind] = _lost_job_handlers[kind] = handler


def register_begun(kind: str, handler: LostJobHandler) -> None:
    """Let jobs of that kind begin in the process that is asked for them (`jobs.services.begin`).
    They are no worker's to do."""
    _lost_job_handlers[kind] = handler


def get_handler(kind: str) -> Handler:
    """The handler of that kind. Raises KeyError."""
    return _handlers[kind]


def get_lost_job_handler(kind: str) -> LostJobHandler:
    """Who ends jobs of that kind that nobody does any more. Raises KeyError."""
    return _lost_job_handlers[kind]


def kinds() -> list[str]:
    """All kinds that are known to this process."""
    return list(_lost_job_handlers)


def claimable_kinds() -> list[str]:
    """The kinds that this process can do. Jobs of others are left to those who can."""
    return list(_handlers)


def begun_kinds() -> list[str]:
    """The kinds that begin where they are asked for."""
    return [kind for kind in _lost_job_handlers if kind not in _handlers]
