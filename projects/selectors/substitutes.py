"""Which model makes a step in the place of one that has failed."""

from ai.catalog.selectors import get_catalog
from ai.inference.availability import is_available
from ai.inference.bounds import LEAST_OUTPUT_TOKENS, chat_cost
from projects.models import Step
from projects.prompts.planning import RosterModel
from projects.selectors.candidate_models import PRICE_CLASSES, roster_of_run, vendor_of
from projects.selectors.spending import power_of
from projects.types import StepKind

# Tokens that a step is taken to read, where it is asked who could pay for it. The hold decides.
_TYPICAL_INPUT = 8_000


def substitute_of(step: Step) -> str | None:
    """A model of another vendor than the one that has failed: one that can be called now, and paid
    within the run's budget; of those the nearest in price, and of these the user's favourite. A
    review is not made by the vendor of its author, where there is another. None where there is
    no such model."""
    roster = roster_of_run(step.run)
    vendor = vendor_of(step.model)
    candidates = [model for model in roster if model.vendor != vendor and _can_work(model)]
    if candidates:
        power, left = power_of(step.run)
        candidates = [each for each in candidates if _least_cost(each) <= power.most(each.id, left)]
    if step.kind == StepKind.REVIEW and step.attempt is not None:
        author = vendor_of(step.attempt.model)
        candidates = [each for each in candidates if each.vendor != author] or candidates
    failed = next((model.price for model in roster if model.id == step.model), "middle")
    nearest = sorted(candidates, key=lambda each: _distance(each, failed))
    return nearest[0].id if nearest else None


def _can_work(model: RosterModel) -> bool:
    known = get_catalog().find(model.id)
    return known is not None and is_available(known)


def _least_cost(model: RosterModel) -> int:
    return chat_cost(get_catalog().models[model.id], _TYPICAL_INPUT, LEAST_OUTPUT_TOKENS)


def _distance(model: RosterModel, price: str) -> int:
    return abs(PRICE_CLASSES.index(model.price) - PRICE_CLASSES.index(price))
