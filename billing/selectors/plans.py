"""The plans on offer, and the allowances that plans and contracts grant."""

from uuid import UUID

from msgspec import Struct

from ai.catalog.selectors import get_catalog
from billing.models import Plan
from billing.types import FREE_MESSAGES, FREE_PLAN, FREE_WINDOW_HOURS
from common.database import get_database


class Grant(Struct, frozen=True):
    """Nano-USD at cost that a plan grants of a model each month."""

    model: str
    granted: int


class FreeTier(Struct, frozen=True):
    """The chat that costs nothing: `limit` messages of each of `models` in `window_hours`."""

    models: list[str]
    limit: int = FREE_MESSAGES
    window_hours: int = FREE_WINDOW_HOURS


class PlanOffer(Struct, frozen=True):
    """A plan as it is offered. `price` is nano-USD per month, None where it is agreed."""

    key: str
    name: str
    price: int | None
    api_access: bool
    features: dict[str, bool]
    allowances: list[Grant]
    free_messages: FreeTier | None


def list_plans() -> list[PlanOffer]:
    """All plans, the smallest first, with the models that are on offer now."""
    catalog = get_catalog()
    return [
        PlanOffer(
            key=plan.key,
            name=plan.name,
            price=plan.price,
            api_access=plan.api_access,
            features=plan.features,
            allowances=[
                Grant(row.model_id, row.granted)
                for row in sorted(plan.allowances.all(), key=lambda row: row.model_id)
                if row.granted and row.model_id in catalog.models
            ],
            free_messages=FreeTier(catalog.free_models) if plan.key == FREE_PLAN else None,
        )
        for plan in Plan.objects.prefetch_related("allowances")
    ]


async def models_in_plan(account_id: UUID, plan: str) -> frozenset[str]:
    """The models of which an account on that plan has an allowance, contracts included."""
    rows = await get_database().rows(
        "SELECT model_id FROM granted_allowances(%s, %s) WHERE granted > 0", (account_id, plan)
    )
    return frozenset(row[0] for row in rows)
