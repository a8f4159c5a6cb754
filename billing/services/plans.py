"""Putting the plans on offer into the database."""

from dataclasses import dataclass

from django.db import transaction

from ai.catalog.models import AIModel
from ai.catalog.seed_changes import SeedChanges
from billing.models import Plan, PlanAllowance
from billing.seeds import ALLOWANCE_PLANS, ALLOWANCES, FEATURES, PLANS, PlanSeed
from common.money import NUSD_PER_CENT, NUSD_PER_USD


@dataclass(frozen=True, slots=True)
class SeedReport:
    plans: int
    allowances: int


@transaction.atomic
def seed_plans() -> SeedReport:
    """Add the missing plans and allowances. Existing ones are left alone, because an operator may
    have changed them, and what an operator has removed stays away. Allowances are for models that
    the catalog has."""
    added = [_seed_plan(rank, seed) for rank, seed in enumerate(PLANS)]
    listed = set(AIModel.objects.values_list("id", flat=True))
    changes = SeedChanges("allowance")
    allowances = PlanAllowance.objects.bulk_create(
        [
            PlanAllowance(plan_id=plan, model_id=model, granted=cents * NUSD_PER_CENT)
            for model, row in ALLOWANCES.items()
            for plan, cents in zip(ALLOWANCE_PLANS, row, strict=True)
            if cents and model in listed
            if changes.include(f"{plan} {model}", "") and not _has_allowance(plan, model)
        ]
    )
    changes.save()
    return SeedReport(plans=sum(added), allowances=len(allowances))


def _seed_plan(rank: int, seed: PlanSeed) -> bool:
    _, created = Plan.objects.get_or_create(
        key=seed.key,
        defaults={
            "name": seed.name,
            "price": None if seed.price_usd is None else seed.price_usd * NUSD_PER_USD,
            "api_access": seed.api_access,
            "features": {feature: feature in seed.features for feature in FEATURES},
            "rank": rank,
        },
    )
    return created


def _has_allowance(plan: str, model: str) -> bool:
    return PlanAllowance.objects.filter(plan_id=plan, model_id=model).exists()
