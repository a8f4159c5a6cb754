"""Lost jobs: their process has died, or their handler has left them running. They fail, or start
again."""

from uuid import UUID

import structlog
from django.db import DatabaseError, transaction

from jobs import services
from jobs.handlers import Verdict, find_handler, get_lost_job_handler

log = structlog.get_logger(__name__)

# A job that is lost so often takes its processes down with it, or has a fault.
MAX_LOSSES = 3


def end_or_start_again(job_id: UUID, kind: str, attempt: int) -> None:
    """Carry out the verdict of a lost job's handler. Without effect where the job does not run
    under this attempt any more. Raises KeyError for a kind that this release does not know."""
    if _starts_again(job_id, kind, attempt):
        log.warning("job.starts_again", job_id=str(job_id), kind=kind, attempt=attempt)
    else:
        get_lost_job_handler(kind).on_lost(job_id, attempt)


def _starts_again(job_id: UUID, kind: str, attempt: int) -> bool:
    handler = find_handler(kind)
    if handler is None:
        # It began in the process of its request, and no worker runs its kind.
        return False
    try:
        with transaction.atomic():
            if handler.judge(job_id, attempt) is Verdict.FAIL:
                return False
            if services.start_again(job_id=job_id, attempt=attempt, max_losses=MAX_LOSSES):
                return True
            transaction.set_rollback(True)
    except DatabaseError:
        raise
    except Exception:
        # A bug of the handler: without an end, each sweep would ask the handler again.
        log.exception("job.not_judged", job_id=str(job_id), kind=kind)
    return False
