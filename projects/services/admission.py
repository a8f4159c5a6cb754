"""May a run begin, or go on? Asked before it is committed; a hold is the last word."""

from accounts.models import User
from ai.catalog.selectors import get_catalog
from ai.inference.availability import check
from ai.inference.bounds import worst_chat_cost
from ai.provider_health.errors import ProviderNotAvailable
from ai.provider_health.services import is_offered
from ai.providers.types import Message
from billing.selectors.affordability import get_spending_power
from common.locks import hold
from projects.errors import RunLimitReached
from projects.models import Run
from projects.prompts.planning import PlanContext, planning_prompt
from projects.selectors.candidate_models import roster_of_run
from projects.types import MAX_RUNS, RunStatus


def check_limit(*, user: User) -> None:
    """Raises RunLimitReached where as many runs of the user run as may. The answer holds until the
    transaction ends."""
    hold("projects.runs", str(user.pk))
    running = Run.objects.filter(
        account=user, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)
    ).order_by("id")
    runs = [
        {"id": str(run_id), "title": title} for run_id, title in running.values_list("id", "title")
    ]
    if len(runs) >= MAX_RUNS:
        raise RunLimitReached(runs=runs)


def check_first_step(*, run: Run) -> None:
    """Raises ProviderNotAvailable, also where the reviewer that the user has chosen cannot be
    reached here, CallsKeepFailing, and the PaymentRequired of a plan that could not be paid."""
    roster = roster_of_run(run)
    model = get_catalog().find(run.planner_model)
    if model is None or not roster:
        raise ProviderNotAvailable
    check(model, run.account_id)
    reviewer = get_catalog().find(run.reviewer_model) if run.reviewer_model else None
    if run.reviews and reviewer is not None and not is_offered(reviewer):
        raise ProviderNotAvailable
    context = PlanContext(
        goal=run.goal, roster=roster, max_subtasks=run.max_subtasks, max_parallel=run.max_parallel
    )
    worst = worst_chat_cost(model, (Message("user", planning_prompt(context)),))
    refusal = get_spending_power(run.account).refusal_of(model.id, worst)
    if refusal is not None:
        raise refusal
