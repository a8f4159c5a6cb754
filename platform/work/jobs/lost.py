"""Lost jobs: their process has died, or their handler has left them running. They fail, start
again, or continue."""

from uuid import UUID

import structlog
from django.db import DatabaseError, transaction

from work.jobs import services
from work.jobs.handlers import RecoveryAction, find_handler, get_lost_job_handler

log = structlog.get_logger(__name__)

# A job that is lost so often takes its processes down with it, or has a fault.
MAX_LOSSES = 3
# Seconds before a lost job continues: a job with a fault does not run in circles.
PAUSE_SECONDS = 5.0


def recover(job_id: UUID, kind: str, attempt: int) -> None:
    """Recover a lost job as its handler says. Without effect where the job does not run
    under this attempt any more. Raises KeyError for a kind that this release does not know."""
    if _goes_on(job_id, kind, attempt):
        log.warning("job.goes_on", job_id=str(job_id), kind=kind, attempt=attempt)
    else:
        get_lost_job_handler(kind).on_lost(job_id, attempt)


def _goes_on(job_id: UUID, kind: str, attempt: int) -> bool:
    handler = find_handler(kind)
    if handler is None:
        # It began in the process of its request, and no worker runs its kind.
        return False
    try:
        with transaction.atomic():
            if _apply(handler.recovery_action(job_id, attempt), job_id, attempt):
                return True
            transaction.set_rollback(True)
    except DatabaseError:
        raise
    except Exception:
        # A bug of the handler: without an end, each sweep would ask the handler again.
        log.exception("job.not_recovered", job_id=str(job_id), kind=kind)
    return False


def _apply(action: RecoveryAction, job_id: UUID, attempt: int) -> bool:
    """Let a job go on, if its handler and its number of losses allow that."""
    match action:
        case RecoveryAction.START_AGAIN:
            return services.start_again(job_id=job_id, attempt=attempt, max_losses=MAX_LOSSES)
        case RecoveryAction.CONTINUE:
            return services.continue_later(
                job_id=job_id, attempt=attempt, max_losses=MAX_LOSSES, seconds=PAUSE_SECONDS
            )
        case RecoveryAction.FAIL:
            return False
