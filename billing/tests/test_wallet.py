"""GET /api/billing/wallet: balance with allowance detail."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from billing.models import PlanAllowance
from billing.services.balance import change_plan, set_contract
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    release,
    release_all,
    settle,
)
from billing.tests.web_app import client_of, clock

URL = "/api/billing/wallet"
pytestmark = pytest.mark.usefixtures("committed")


def wallet(user: User) -> dict[str, Any]:
    response = client_of(user).get(URL)
    assert response.status_code == 200
    shown: dict[str, Any] = response.json()
    return shown


def allowances(user: User) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in wallet(user)["allowances"]}


def test_it_shows_everything_that_the_plan_grants_though_nothing_is_used() -> None:
    alice = new_account(balance=3)

    shown = wallet(alice)

    granted = PlanAllowance.objects.filter(plan="max", granted__gt=0).order_by("model_id")
    assert shown == {
        "balance_usd": 0.000000003,
        "held_usd": 0,
        "available_usd": 0.000000003,
        "month": f"{datetime.now(UTC):%Y-%m}",
        "allowances": [
            {
                "model": row.model_id,
                "granted_usd": row.granted / 1e9,
                "used_usd": 0,
                "held_usd": 0,
                "remaining_usd": row.granted / 1e9,
            }
            for row in granted
        ],
    }


def test_it_shows_what_was_used_and_what_is_held() -> None:
    alice = new_account()
    owner = live_owner()
    settle(hold(alice, 400_000_000, owner=owner, model=IN_PLAN)[1], 300_000_000)
    hold(alice, 200_000_000, owner=owner, model=IN_PLAN)

    assert allowances(alice)[IN_PLAN] == {
        "model": IN_PLAN,
        "granted_usd": 1.5,
        "used_usd": 0.3,
        "held_usd": 0.2,
        "remaining_usd": 1.0,
    }
    release_all(alice)


def test_the_split_of_a_call_that_the_plan_covers_in_part_adds_up() -> None:
    alice = new_account()
    owner = live_owner()
    charge = hold(alice, 1_600_000_000, owner=owner, model=IN_PLAN)[1]

    shown = wallet(alice)
    assert allowances(alice)[IN_PLAN]["held_usd"] == 1.5
    assert (shown["balance_usd"], shown["held_usd"], shown["available_usd"]) == (1.0, 0.2, 0.8)

    settle(charge, 1_550_000_000)
    assert allowances(alice)[IN_PLAN]["remaining_usd"] == 0
    assert wallet(alice)["balance_usd"] == 0.9


def test_a_plan_that_grants_less_than_was_used_leaves_nothing_and_never_less() -> None:
    alice = new_account(plan="max")
    settle(hold(alice, 1_000_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_000_000_000)

    change_plan(account=alice, plan="starter", forced=True)
    assert allowances(alice)[IN_PLAN] == {
        "model": IN_PLAN,
        "granted_usd": 0.6,
        "used_usd": 1.0,
        "held_usd": 0,
        "remaining_usd": 0,
    }

    change_plan(account=alice, plan="free", forced=True)
    assert wallet(alice)["allowances"] == [
        {
            "model": IN_PLAN,
            "granted_usd": 0,
            "used_usd": 1.0,
            "held_usd": 0,
            "remaining_usd": 0,
        }
    ]


def test_a_contract_grants_beside_and_instead_of_its_plan() -> None:
    bob = new_account(plan="enterprise")
    assert wallet(bob)["allowances"] == []

    set_contract(account=bob, model_id=BALANCE_ONLY, granted=500_000_000_000)
    settle(hold(bob, 10, owner=live_owner())[1], 10)
    assert allowances(bob) == {
        BALANCE_ONLY: {
            "model": BALANCE_ONLY,
            "granted_usd": 500,
            "used_usd": 0.00000001,
            "held_usd": 0,
            "remaining_usd": 499.99999999,
        }
    }

    change_plan(account=bob, plan="max", forced=True)
    assert allowances(bob)[BALANCE_ONLY]["granted_usd"] == 0
    assert allowances(bob)[IN_PLAN]["granted_usd"] == 1.5


def test_a_new_month_begins_with_everything() -> None:
    alice = new_account()
    with clock("2026-10-31T23:59:59Z"):
        settle(hold(alice, 1_000_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_000_000_000)
        assert wallet(alice)["month"] == "2026-10"
        assert allowances(alice)[IN_PLAN]["remaining_usd"] == 0.5
    with clock("2026-11-01T00:00:00Z"):
        assert wallet(alice)["month"] == "2026-11"
        assert allowances(alice)[IN_PLAN]["remaining_usd"] == 1.5


def test_it_is_ones_own() -> None:
    alice, bob = new_account(plan="max"), new_account(plan="free", balance=0)
    charge = hold(alice, 1_000, owner=live_owner(), model=IN_PLAN)[1]

    assert wallet(bob)["allowances"] == []
    assert wallet(bob)["balance_usd"] == 0
    release(charge)


def test_it_takes_two_queries_however_many_models_there_are(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    alice = new_account()
    settle(hold(alice, 10, owner=live_owner(), model=IN_PLAN)[1], 10)
    client = client_of(alice)

    with django_assert_num_queries(2):  # who is it, and where do they stand
        client.get(URL)


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
