"""GET /api/billing/plans: available plans."""

import pytest
from rest_framework.test import APIClient

from ai.catalog import selectors as catalog
from ai.catalog.models import AIModel
from billing.models import PlanAllowance
from common.money import NUSD_PER_CENT
from conftest import Persona

URL = "/api/billing/plans"
pytestmark = pytest.mark.django_db


def test_it_lists_the_plans_from_the_smallest(alice: Persona) -> None:
    response = alice.client.get(URL)

    assert response.status_code == 200
    assert [(plan["key"], plan["price_usd"], plan["api_access"]) for plan in response.json()] == [
        ("free", 0, False),
        ("starter", 12, False),
        ("pro", 25, False),
        ("max", 42, True),
        ("advanced", 72, True),
        ("enterprise", None, True),
    ]
    assert {frozenset(plan) for plan in response.json()} == {
        frozenset(
            {
                "key",
                "name",
                "price_usd",
                "api_access",
                "features",
                "allowances",
                "free_messages",
            }
        )
    }


def test_a_plan_says_what_it_has_and_what_it_has_not(alice: Persona) -> None:
    features = {plan["key"]: plan["features"] for plan in alice.client.get(URL).json()}

    assert features["starter"] == {
        "council": True,
        "projects": True,
        "videos": False,
        "assets_3d": False,
        "workspaces": False,
    }
    assert not any(features["free"].values())
    assert all(features["pro"].values())


def test_a_plan_grants_dollars_at_cost_by_model(alice: Persona) -> None:
    allowances = {plan["key"]: plan["allowances"] for plan in alice.client.get(URL).json()}

    assert {"model": "gpt-6-luna", "granted_usd": 1.5} in allowances["max"]
    assert {"model": "gpt-6-luna", "granted_usd": 0.6} in allowances["starter"]
    models = [row["model"] for row in allowances["max"]]
    assert models == sorted(models)
    assert allowances["free"] == allowances["enterprise"] == []


def test_only_models_that_are_on_offer_are_named(alice: Persona) -> None:
    PlanAllowance.objects.filter(plan="max", model="claude-opus-5-5").update(granted=0)
    AIModel.objects.filter(pk="gpt-6-luna").update(enabled=False)
    catalog.reset()
    try:
        plans = {plan["key"]: plan for plan in alice.client.get(URL).json()}
    finally:
        catalog.reset()

    models = [row["model"] for row in plans["max"]["allowances"]]
    assert "gpt-6-luna" not in models
    assert "claude-opus-5-5" not in models
    assert "claude-sonnet-5-5" in models


def test_the_free_plan_has_messages_of_some_models_instead(alice: Persona) -> None:
    free, *paid = alice.client.get(URL).json()

    assert free["free_messages"]["limit"] == 10
    assert free["free_messages"]["window_hours"] == 4
    free_models = set(AIModel.objects.filter(free=True).values_list("id", flat=True))
    assert set(free["free_messages"]["models"]) == free_models != set()
    assert {plan["free_messages"] for plan in paid} == {None}


def test_an_operators_change_is_shown_at_once(alice: Persona) -> None:
    PlanAllowance.objects.filter(plan="max", model="gpt-6-luna").update(granted=7 * NUSD_PER_CENT)

    plans = {plan["key"]: plan for plan in alice.client.get(URL).json()}

    assert {"model": "gpt-6-luna", "granted_usd": 0.07} in plans["max"]["allowances"]


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
