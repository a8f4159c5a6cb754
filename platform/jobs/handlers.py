"""Who does which kind of job. An app registers its handlers when it is ready."""

from typing import Protocol
from uuid import UUID

from jobs.running import RunningJob


class Handler(Protocol):
    """Does the jobs of one kind."""

    async def run(self, job: RunningJob) -> None:
        """Do it, and end it (`jobs.services.end`) in the transaction of what came of it.

        On the worker's event loop: what uses the ORM goes through `common.threads.in_thread`. What
        this raises is a fault of ours, and the job is abandoned.
        """
        ...

    def abandon(self, job_id: UUID, attempt: int) -> None:
        """End a job that nobody does any more: its worker died, or its handler raised.

        Synchronous, a transaction of its own, and harmless where the job has ended meanwhile.
        """
        ...


_handlers: dict[str, Handler] = {}


def register(kind: str, handler: Handler) -> None:
    """Let `handler` do the jobs of that kind."""
    _handlers[kind] = handler


def get_handler(kind: str) -> Handler:
    """The handler of that kind. Raises KeyError."""
    return _handlers[kind]


def kinds() -> list[str]:
    """The kinds that this process can do. Jobs of others are left to those who can."""
    return list(_handlers)
