"""Periodic sweeps. Each is idempotent, and runs once at a time however many schedulers start it."""

import structlog
from celery import shared_task

from billing.services import sweeps
from common.locks import alone, note_found

log = structlog.get_logger(__name__)


@shared_task
def expire_lapsed_charges() -> None:
    """Every 10 s: free what dead processes hold."""
    with alone("expire-lapsed-charges") as is_alone:
        if is_alone:
            sweeps.expire_lapsed_charges()


@shared_task
def forget_idempotency_keys() -> None:
    """Every minute: delete answers that are too old, or too large, to be replayed."""
    with alone("forget-idempotency-keys") as is_alone:
        if is_alone:
            sweeps.forget_idempotency_keys()


@shared_task
def reconcile() -> None:
    """Every 5 min: an error log for each row that breaks an invariant."""
    with alone("reconcile") as is_alone:
        if not is_alone:
            return
        violations = sweeps.find_violations()
        note_found("reconcile", len(violations))
        for violation in violations:
            log.error(
                "money.invariant_broken", invariant=violation.invariant.name, row=violation.row
            )
