"""What the user changes of a run whatever its status: its title, its budget, the length of its
answers, and whether its end is told by mail."""

from typing import Any, Literal, TypedDict, Unpack
from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.errors import BudgetBelowSpent
from billing.services import idempotency
from billing.services.groups import set_budget
from common.errors import ValidationFailed
from common.money import NUSD_PER_CENT, usd_text
from common.titles import first_line
from events.types import USER, NewEvent
from projects import events
from projects.models import Run
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.types import MAX_TITLE

_OTHERS: tuple[Literal["max_output_tokens", "wants_mail"], ...] = (
    "max_output_tokens",
    "wants_mail",
)


class Settings(TypedDict, total=False):
    """`budget` is nano-USD, None for no bound."""

    title: str
    budget: int | None
    max_output_tokens: int | None
    wants_mail: bool


@transaction.atomic
def change_settings(*, user: User, run_id: UUID, **changes: Unpack[Settings]) -> None:
    """Change these of a run; an empty title is the first line of its goal. A budget counts for the
    calls to come.

    Raises NotFound, ValidationFailed where the run has already cost more than its budget would be,
    with what it holds.
    """
    if "budget" in changes:
        idempotency.lock(account=user)
    run = lock_run(user, run_id)
    new_events: list[NewEvent] = []
    if "title" in changes:
        new_events += _rename(run, changes["title"])
    if "budget" in changes:
        new_events += _set_budget(run, changes["budget"])
    new_events += _set(run, {name: changes[name] for name in _OTHERS if name in changes})
    append_events(run=run, events=new_events)


def _set(run: Run, changes: dict[str, Any]) -> list[NewEvent]:
    changed = {name: value for name, value in changes.items() if getattr(run, name) != value}
    if not changed:
        return []
    for name, value in changed.items():
        setattr(run, name, value)
    run.save(update_fields=[*changed])
    return [events.run_settings(run)]


def _rename(run: Run, title: str) -> list[NewEvent]:
    run.title = title or first_line(run.goal, MAX_TITLE)
    run.save(update_fields=["title"])
    return [events.run_event("renamed", USER)]


def _set_budget(run: Run, budget: int | None) -> list[NewEvent]:
    if budget == run.budget:
        return []
    try:
        set_budget(group_id=run.pk, account=run.account, budget=budget, calls=[*run.rows.steps])
    except BudgetBelowSpent as refusal:
        raise ValidationFailed.of("budget_usd", _too_low(refusal.spent)) from refusal
    was, run.budget = run.budget, budget
    run.save(update_fields=["budget"])
    return [events.run_budget(was, budget)]


def _too_low(spent: int) -> str:
    least = -(-spent // NUSD_PER_CENT) * NUSD_PER_CENT
    return (
        f"The run has cost {usd_text(spent)}, with what is held for calls that run: its budget is "
        f"at least {usd_text(least)}."
    )
