"""Periodic sweeps. Each is idempotent, and runs once at a time however many schedulers start it."""

import structlog
from celery import shared_task

from billing.invariants import Violation
from billing.services import months, reconciliation, sweeps
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
def forget_undelivered_answers() -> None:
    """Every minute: delete answers whose callers went away and have not come back."""
    with alone("forget-undelivered-answers") as is_alone:
        if is_alone:
            sweeps.forget_undelivered_answers()


@shared_task
def reconcile() -> None:
    """Every 5 min: an error log for each row that breaks an invariant since the last pass."""
    with alone("reconcile") as is_alone:
        if is_alone:
            _report("reconcile", reconciliation.check_changes())


@shared_task
def reconcile_everything() -> None:
    """Every night: the same for the whole history."""
    with alone("reconcile-everything") as is_alone:
        if is_alone:
            _report("reconcile-everything", reconciliation.check_everything())


@shared_task
def keep_months() -> None:
    """Every hour: make the months of charges ahead, close those that are over, and drop those that
    are not kept any longer."""
    with alone("keep-months") as is_alone:
        if is_alone:
            months.keep_months()


def _report(sweep: str, violations: list[Violation]) -> None:
    note_found(sweep, len(violations))
    for violation in violations:
        log.error("money.invariant_broken", invariant=violation.invariant.name, row=violation.row)
