"""The handlers of each kind of job. An app registers its handlers when it is ready."""

from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from work.jobs.running import RunningJob


class RecoveryAction(Enum):
    """What becomes of a lost job."""

    FAIL = auto()
    START_AGAIN = auto()
    # From where the last attempt has left it (`Job.Status.SCHEDULED`), its cancellation included.
    CONTINUE = auto()


class LostJobHandler(Protocol):
    """Ends jobs of one kind that no process runs any more."""

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End a job whose process died, or that its handler left running.

        Synchronous, a transaction of its own, and without effect where the job has ended meanwhile.
        """
        ...


class Handler(LostJobHandler, Protocol):
    """Runs the jobs of one kind. Handlers inherit from it where lost ones fail."""

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        """What becomes of a job that was lost: for FAIL, `on_lost` ends it.

        Synchronous, in the transaction that lets the job start again: the handler may write what
        the next attempt needs. A job starts again a few times (`work.jobs.lost.MAX_LOSSES`), and
        not once its user has asked for its end; then it fails whatever the action is, and what the
        handler has written here is rolled back. CONTINUE counts from the last attempt that
        scheduled the job.
        """
        return RecoveryAction.FAIL

    async def run(self, job: RunningJob) -> None:
        """Run the job, and end it (`work.jobs.services.end`) in the transaction of its result.

        On the worker's event loop: code that uses the ORM goes through `common.threads.in_thread`.
        An exception is a bug, and the job is lost.
        """
        ...


_handlers: dict[str, Handler] = {}
_lost_job_handlers: dict[str, LostJobHandler] = {}


def register(kind: str, handler: Handler) -> None:
    """Register a handler for workers."""
    _handlers[kind] = _lost_job_handlers[kind] = handler


def register_begun(kind: str, handler: LostJobHandler) -> None:
    """Register a kind that begins in the process of its request (`work.jobs.services.begin`).
    Workers do not run such jobs."""
    _lost_job_handlers[kind] = handler


def get_handler(kind: str) -> Handler:
    """The handler of that kind. Raises KeyError."""
    return _handlers[kind]


def find_handler(kind: str) -> Handler | None:
    """The handler of that kind, if workers run it."""
    return _handlers.get(kind)


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
