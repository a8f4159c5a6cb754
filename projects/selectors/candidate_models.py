"""The models that a run may call, and the choice among them."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import cast

from accounts.models import User
from accounts.selectors.preferences import list_enabled
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model, TokenPrice
from ai.provider_health.errors import ProviderNotAvailable
from ai.provider_health.services import is_offered
from billing.selectors.default_model import default_chat_model
from billing.selectors.entitlements import get_entitlements
from projects.models import Run
from projects.plans import Plan
from projects.prompts.planning import RosterModel
from projects.types import AssignedBy

# Micro-USD per 1,000,000 tokens of output, below which a model is of the class.
_PRICES = (("low", 2_000_000), ("middle", 12_000_000))
PRICE_CLASSES = ("low", "middle", "high")
# What is taken first where nobody has chosen: good work at a price that surprises nobody.
_ORDER = ("middle", "high", "low")


def roster_of(user: User, allowed: Collection[str] = ()) -> list[RosterModel]:
    """The models that the user has not disabled and that can be reached here, favourites first;
    those of `allowed` alone where it names any."""
    catalog = get_catalog()
    rows = []
    for agent in list_enabled(user):
        model = catalog.models[agent.model]
        is_allowed = not allowed or model.id in allowed
        if is_allowed and is_offered(model):
            rows.append(_row(model, agent.instructions))
    return rows


def roster_of_run(run: Run) -> list[RosterModel]:
    """The models that a run may call."""
    return roster_of(run.account, run.roster)


def default_planner(user: User) -> str:
    """The planner of a run that names none. Raises ProviderNotAvailable."""
    model = default_chat_model(list_enabled(user), lambda: get_entitlements(user).models)
    if model is None:
        raise ProviderNotAvailable
    return model


def assign(plan: Plan, roster: Sequence[RosterModel]) -> dict[str, tuple[str, AssignedBy]]:
    """A model for each subtask, by its key: the one that the plan suggests, else spread over the
    vendors, the least used of them first. `roster` is not empty."""
    suggested = {each.key: each.model for each in plan.subtasks if each.model}
    vendors = {model.id: model.vendor for model in roster}
    # A subtask keeps a model that has left the roster since.
    used = Counter(vendors.get(model) or vendor_of(model) for model in suggested.values())
    calls = Counter(suggested.values())
    assigned: dict[str, tuple[str, AssignedBy]] = {}
    for subtask in plan.subtasks:
        if subtask.key in suggested:
            assigned[subtask.key] = (suggested[subtask.key], AssignedBy.PLAN)
            continue
        model = min(
            roster, key=lambda each: (used[each.vendor], calls[each.id], _ORDER.index(each.price))
        )
        used[model.vendor] += 1
        calls[model.id] += 1
        assigned[subtask.key] = (model.id, AssignedBy.SPREAD)
    return assigned


def reviewer_of(author: str, roster: Sequence[RosterModel], chosen: str) -> str:
    """The model that reviews what `author` wrote: `chosen`, in the roster or not, unless it is of
    the author's vendor or cannot be reached here; then one of another vendor. Where there is none,
    the chosen one after all, or the author itself."""
    own = vendor_of(author)
    reviewer = get_catalog().find(chosen) if chosen else None
    if reviewer is not None and not is_offered(reviewer):
        reviewer = None
    if reviewer is not None and reviewer.owned_by != own:
        return reviewer.id
    others = (model for model in roster if model.vendor != own)
    ranked = sorted(others, key=lambda each: _ORDER.index(each.price))
    if ranked:
        return ranked[0].id
    return reviewer.id if reviewer is not None else author


def _row(model: Model, notes: str) -> RosterModel:
    output = cast(TokenPrice, model.price).output
    return RosterModel(
        id=model.id,
        vendor=model.owned_by,
        price=next((name for name, limit in _PRICES if output < limit), "high"),
        is_reasoning=model.reasoning,
        context_window=model.context_window,
        notes=notes,
    )


def vendor_of(name: str) -> str:
    """The vendor of a model of the catalog; empty for one that is gone."""
    model = get_catalog().find(name)
    return model.owned_by if model is not None else ""
