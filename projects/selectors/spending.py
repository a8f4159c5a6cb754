"""What the next step of a run may cost, and how much its model may write."""

from collections.abc import Sequence

from ai.catalog.types import Model
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS, affordable_output, input_bound
from ai.providers.types import Message, Tools
from billing.selectors.affordability import SpendingPower, get_spending_power
from billing.selectors.charges import get_usage
from billing.selectors.groups import remaining_budget
from projects.models import Run, Step
from projects.selectors.answers import turns_before
from projects.types import SubtaskStatus


def power_of(run: Run) -> tuple[SpendingPower, int | None]:
    """What the run's user can pay with, and what is left of the run's budget, if it has one, in
    nano-USD."""
    left = remaining_budget(run.pk) if run.budget is not None else None
    return get_spending_power(run.account), left


def output_bound_of(
    step: Step, model: Model, messages: Sequence[Message], tools: Tools | None = None
) -> int:
    """How many tokens the model may write in this step: as many as it can, and as its user allows
    for the whole answer, as far as budget and balance reach.

    More than DEFAULT_OUTPUT_TOKENS are held only from this step's share: the steps that wait for
    their turn have an equal one, and one share is left for whatever else the user does.
    """
    run = step.run
    asked = _wanted(step, model, messages, tools)
    power, left = power_of(run)
    usual = min(asked, DEFAULT_OUTPUT_TOKENS)
    if asked > usual:
        shares = 1 + sum(row.status == SubtaskStatus.QUEUED for row in run.rows.active_steps())
        shares += step.status != SubtaskStatus.QUEUED  # this one
        within = power.payable(model.id) if left is None else min(left, power.payable(model.id))
        share = affordable_output(power, model, messages, asked, tools, within // shares)
        if share > usual:
            return share
    return affordable_output(power, model, messages, usual, tools, left)


def left_to_write(step: Step) -> int | None:
    """What is left of the bound that the user has set for the answer of this step, in tokens; None
    where there is none."""
    limits = [step.run.max_output_tokens]
    limits += [step.subtask.max_output_tokens] if step.subtask is not None else []
    bounds = [limit for limit in limits if limit is not None]
    if not bounds:
        return None
    written = get_usage(step.run.account, [turn.pk for turn in turns_before(step)])
    return max(0, min(bounds) - sum(usage.output_tokens for usage in written.values()))


def _wanted(step: Step, model: Model, messages: Sequence[Message], tools: Tools | None) -> int:
    left = left_to_write(step)
    room = model.context_window - input_bound(model, messages, tools)
    most = min(model.max_output_tokens, max(room, DEFAULT_OUTPUT_TOKENS))
    return most if left is None else max(1, min(most, left))
