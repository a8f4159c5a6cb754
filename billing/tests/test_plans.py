"""The plans on offer."""

import pytest

from billing.models import Plan, PlanAllowance
from billing.seeds import ALLOWANCE_PLANS, ALLOWANCE_SHARE_OF_PRICE, ALLOWANCES, PLANS
from billing.services.plans import seed_plans
from catalog.models import AIModel

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("plan", ALLOWANCE_PLANS)
def test_a_plans_allowances_stay_under_their_share_of_its_price(plan: str) -> None:
    column = ALLOWANCE_PLANS.index(plan)
    price = next(seed.price_usd for seed in PLANS if seed.key == plan)
    assert price

    assert sum(row[column] for row in ALLOWANCES.values()) <= price * 100 * ALLOWANCE_SHARE_OF_PRICE


def test_every_allowance_is_for_a_listed_model_and_never_for_embeddings() -> None:
    modalities = dict(AIModel.objects.values_list("id", "modality"))

    assert {modalities[model] for model in ALLOWANCES} == {"chat", "image"}


def test_seeding_again_leaves_an_operators_changes_alone() -> None:
    Plan.objects.filter(key="max").update(price=1)
    PlanAllowance.objects.filter(plan="max", model="gpt-6-luna").update(granted=2)

    report = seed_plans()

    assert (report.plans, report.allowances) == (0, 0)
    assert Plan.objects.get(key="max").price == 1
    assert PlanAllowance.objects.get(plan="max", model="gpt-6-luna").granted == 2


def test_api_access_begins_with_max() -> None:
    with_access = set(Plan.objects.filter(api_access=True).values_list("key", flat=True))

    assert with_access == {"max", "advanced", "enterprise"}
