"""The plans on offer."""

from itertools import pairwise
from typing import cast

import pytest

from ai.catalog.models import AIModel
from billing.models import Plan, PlanAllowance
from billing.seeds import ALLOWANCE_PLANS, ALLOWANCE_SHARE_OF_PRICE, ALLOWANCES, PLANS
from billing.services.balance import change_plan
from billing.services.plans import seed_plans
from billing.tests.bank import hold, live_owner, new_account, settle
from common.money import NUSD_PER_CENT, NUSD_PER_USD

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("plan", ALLOWANCE_PLANS)
def test_a_plans_allowances_stay_under_their_share_of_its_price(plan: str) -> None:
    column = ALLOWANCE_PLANS.index(plan)
    price = next(seed.price_usd for seed in PLANS if seed.key == plan)
    assert price

    assert sum(row[column] for row in ALLOWANCES.values()) < price * 100 * ALLOWANCE_SHARE_OF_PRICE


def test_a_bigger_plan_never_grants_less_of_a_model() -> None:
    assert [seed.key for seed in PLANS if seed.key in ALLOWANCE_PLANS] == list(ALLOWANCE_PLANS)
    assert {model: row for model, row in ALLOWANCES.items() if list(row) != sorted(row)} == {}


def test_a_bigger_plan_never_costs_less_or_offers_less() -> None:
    for smaller, bigger in pairwise(Plan.objects.order_by("rank")):
        assert bigger.price is None or cast(int, smaller.price) < bigger.price
        assert bigger.api_access >= smaller.api_access
        assert all(bigger.features[name] >= has for name, has in smaller.features.items())


def test_the_plans_are_seeded_as_they_are_on_offer() -> None:
    granted = PlanAllowance.objects.values_list("plan_id", "model_id", "granted")

    assert {(plan, model): amount // NUSD_PER_CENT for plan, model, amount in granted} == {
        (plan, model): cents
        for model, row in ALLOWANCES.items()
        for plan, cents in zip(ALLOWANCE_PLANS, row, strict=True)
        if cents
    }
    prices = Plan.objects.values_list("key", "price")
    assert {key: price and price // NUSD_PER_USD for key, price in prices} == {
        "free": 0,
        "starter": 12,
        "pro": 25,
        "max": 42,
        "advanced": 72,
        "enterprise": None,
    }


@pytest.mark.parametrize("smaller", ALLOWANCE_PLANS)
def test_an_upgrade_is_never_refused(smaller: str) -> None:
    granted = PlanAllowance.objects.filter(plan=smaller).values_list("model_id", "granted")
    alice, owner = new_account(plan=smaller, balance=0), live_owner()
    for model, amount in granted:
        settle(hold(alice, amount, owner=owner, model=model)[1], amount)

    bigger = [seed.key for seed in PLANS[[seed.key for seed in PLANS].index(smaller) + 1 :]]
    for plan in set(bigger) - {"enterprise"}:
        change_plan(account=alice, plan=plan)
        change_plan(account=alice, plan=smaller)


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


def test_an_allowance_that_an_operator_has_removed_stays_away() -> None:
    PlanAllowance.objects.filter(plan="max", model="gpt-6-luna").delete()
    assert seed_plans().allowances == 0
    assert not PlanAllowance.objects.filter(plan="max", model="gpt-6-luna").exists()


def test_api_access_begins_with_max() -> None:
    with_access = set(Plan.objects.filter(api_access=True).values_list("key", flat=True))

    assert with_access == {"max", "advanced", "enterprise"}
