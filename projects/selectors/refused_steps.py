"""Why a run stands whose next call could not be paid, or could not be told what it needs."""

import math
from typing import Any, Final

from common.money import NUSD_PER_CENT, NUSD_PER_USD, usd_text
from projects.models import Run
from projects.refusals import pause_reason_of
from projects.types import Outcome, PauseReason

OF_REFUSALS: Final = frozenset(
    {
        PauseReason.BUDGET_EXCEEDED,
        PauseReason.INSUFFICIENT_BALANCE,
        PauseReason.REPOSITORY_UNAVAILABLE,
    }
)


def error_of_refusal(run: Run, reason: PauseReason) -> dict[str, Any] | None:
    """The error of the latest step that was refused for this reason. That of one that could not be
    paid has the fields of a 402, and its message says in dollars what is needed."""
    refused = [
        step.error
        for step in run.rows.steps.values()
        if step.outcome == Outcome.REFUSED
        and step.error is not None
        and pause_reason_of(step.error["code"]) == reason
    ]
    if not refused:
        return None
    error: dict[str, Any] = refused[-1]
    needed = _nusd(error.get("needed_usd"))
    left = _nusd(error.get("afford_usd"))
    left = _nusd(error.get("available_usd")) if left is None else left
    if needed is None or left is None or reason == PauseReason.REPOSITORY_UNAVAILABLE:
        return error
    said = f"The next call may cost up to {usd_text(needed)}, and {usd_text(left)} is left"
    if reason == PauseReason.BUDGET_EXCEEDED and run.budget is not None:
        least = _cents(run.budget - left + needed)
        message = f"{said} of the budget. Raise it to {least} at least, and resume."
    else:
        message = f"{said} for it. Add {_cents(needed - left)} at least, and resume."
    return {**error, "message": message}


def _nusd(amount: float | None) -> int | None:
    return None if amount is None else round(amount * NUSD_PER_USD)


def _cents(amount: int) -> str:
    """In dollars and whole cents, rounded up."""
    return usd_text(math.ceil(amount / NUSD_PER_CENT) * NUSD_PER_CENT)
