"""Periodic sweeps. Each is idempotent, so two schedulers at once do no harm."""

import structlog
from celery import shared_task

from billing.services import sweeps

log = structlog.get_logger(__name__)


@shared_task
def expire_lapsed_charges() -> None:
    """Every 10 s: free what dead processes hold."""
    sweeps.expire_lapsed_charges()


@shared_task
def reconcile() -> None:
    """Every 5 min: an error log for each row that breaks an invariant."""
    for violation in sweeps.find_violations():
        log.error("money.invariant_broken", invariant=violation.invariant.name, row=violation.row)
