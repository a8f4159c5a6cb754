"""What a run would cost, before it starts."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.inference.bounds import chat_cost
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.token_estimate import estimate_text
from billing.selectors.affordability import get_spending_power
from billing.selectors.features import require_feature
from projects.plans import Plan, PlannedSubtask
from projects.prompts.planning import PlanContext, planning_prompt
from projects.selectors.candidate_models import assign, default_planner, reviewer_of, roster_of
from projects.types import FEATURE, Estimate, StepKind, StepsEstimate

# What a run is taken to be like: subtasks, where as many may be, and tokens of the answers.
EXPECTED_SUBTASKS: Final = 5
_WRITTEN: Final = {
    StepKind.PLAN: 900,
    StepKind.WORK: 1_200,
    StepKind.REVIEW: 200,
    StepKind.FINAL: 1_500,
}
_INSTRUCTIONS: Final = 600  # tokens around what a prompt quotes
# How far runs may be from their estimate. The simulator's runs, whose texts are short, cost 0.09 to
# 0.44 of it; a plan with twice as many parts, or revisions of all of them, costs more than twice.
LOW, HIGH = 0.09, 2.5


class _Call(Struct, frozen=True):
    kind: StepKind
    model: str
    tokens_in: int


def estimate(
    *,
    user: User,
    goal: str,
    max_subtasks: int,
    max_parallel: int,
    reviews: bool,
    roster: list[str] | None = None,
    planner_model: str | None = None,
    reviewer_model: str = "",
) -> Estimate:
    """What a run with these settings would cost.

    Raises PlanRequired, ProviderNotAvailable.
    """
    require_feature(user, FEATURE)
    models = roster_of(user, roster or ())
    if not models:
        raise ProviderNotAvailable
    context = PlanContext(
        goal=goal, roster=models, max_subtasks=max_subtasks, max_parallel=max_parallel
    )
    planner = planner_model or default_planner(user)
    power, catalog = get_spending_power(user), get_catalog()
    available = power.available
    counts, costs = dict.fromkeys(_WRITTEN, 0), dict.fromkeys(_WRITTEN, 0)
    for call in _calls(context, planner, reviewer_model, reviews):
        model = catalog.models[call.model]
        cost = chat_cost(model, call.tokens_in, _WRITTEN[call.kind])
        counts[call.kind] += 1
        costs[call.kind] += power.pay(model.id, cost).total
    expected = sum(costs.values())
    return Estimate(
        steps=[
            StepsEstimate(kind=kind, count=counts[kind], expected=costs[kind])
            for kind in _WRITTEN
            if counts[kind]
        ],
        low=round(LOW * expected),
        expected=expected,
        high=round(HIGH * expected),
        available=available,
    )


def _calls(context: PlanContext, planner: str, reviewer: str, reviews: bool) -> Iterator[_Call]:
    """The calls of a run whose parts depend on each other in pairs."""
    parts = [
        PlannedSubtask(key=str(n), title="", instructions="")
        for n in range(min(context.max_subtasks, EXPECTED_SUBTASKS))
    ]
    assigned = assign(Plan(title="", summary="", subtasks=tuple(parts)), context.roster)
    written, goal = _WRITTEN[StepKind.WORK], estimate_text(context.goal)
    yield _Call(StepKind.PLAN, planner, estimate_text(planning_prompt(context)))
    for number, (author, _) in enumerate(assigned.values()):
        yield _Call(StepKind.WORK, author, goal + _INSTRUCTIONS + (number % 2) * written)
        if reviews:
            model = reviewer_of(author, context.roster, reviewer)
            yield _Call(StepKind.REVIEW, model, goal + _INSTRUCTIONS + written)
    if len(parts) > 1:
        yield _Call(StepKind.FINAL, planner, goal + _INSTRUCTIONS + len(parts) * written)
