"""Periodic sweeps. Each is idempotent, and runs once at a time however many schedulers start it."""

import structlog

from billing.invariants import Violation
from billing.services import months, reconciliation, sweeps
from common.sweeps import note_found, sweep

log = structlog.get_logger(__name__)


@sweep("expire-lapsed-charges")
def expire_lapsed_charges() -> None:
    """Every 5 s: free what dead processes hold."""
    sweeps.expire_lapsed_charges()


@sweep("forget-idempotency-keys")
def forget_idempotency_keys() -> None:
    """Every minute: delete answers that are too old, or too large, to be replayed."""
    sweeps.forget_idempotency_keys()


@sweep("forget-undelivered-answers")
def forget_undelivered_answers() -> None:
    """Every minute: delete answers whose callers went away and have not come back."""
    sweeps.forget_undelivered_answers()


@sweep("reconcile")
def reconcile() -> None:
    """Every 5 min: an error log for each row that breaks an invariant since the last pass."""
    _report("reconcile", reconciliation.check_changes())


@sweep("reconcile-everything")
def reconcile_everything() -> None:
    """Every night: the same for the whole history."""
    _report("reconcile-everything", reconciliation.check_everything())


@sweep("keep-months")
def keep_months() -> None:
    """Every hour: make the months of charges ahead, close those that are over, and drop those that
    are not kept any longer."""
    months.keep_months()


def _report(name: str, violations: list[Violation]) -> None:
    note_found(name, len(violations))
    for violation in violations:
        log.error("money.invariant_broken", invariant=violation.invariant.name, row=violation.row)
