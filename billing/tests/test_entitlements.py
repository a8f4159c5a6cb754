"""GET /api/users/me/entitlements: plan, per-model allowance remaining, feature flags."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import User
from ai.catalog.models import AIModel
from ai.providers.config import PROVIDERS, from_environ
from billing.services.balance import change_plan, set_contract
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    release,
    release_all,
    settle,
)
from billing.tests.web_app import client_of, clock
from common import snapshots

URL = "/api/users/me/entitlements"
IMAGE_IN_PLAN = "gpt-image-2.5-flare"
IMAGE_BALANCE_ONLY = "flux-2-pro"
pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
def configured(settings: Settings) -> None:
    """Every provider has a key, and so has the model of this machine."""
    keys = {f"{name.upper()}_API_KEY": "key" for name in PROVIDERS}
    keys["LOCAL_MODEL_URL"] = keys["LOCAL_SPEECH_URL"] = "http://127.0.0.1:1/v1"
    settings.PROVIDERS = from_environ(keys, simulated=frozenset(), simulator_url="")


def entitlements(user: User) -> dict[str, Any]:
    response = client_of(user).get(URL)
    assert response.status_code == 200
    shown: dict[str, Any] = response.json()
    return shown


def models(user: User) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in entitlements(user)["models"]}


def callable_models(user: User) -> set[str]:
    return {name for name, row in models(user).items() if row["callable"]}


def send_free_message(user: User, model: str = FREE_MODEL) -> str:
    verdict, charge = hold(user, 1_000, owner=live_owner(), model=model, free_window=True)
    if verdict == "held":
        settle(charge, 900)
    return verdict


def test_it_shows_the_plan_the_balance_the_features_and_every_model_once() -> None:
    alice = new_account(plan="starter", balance=1_500_000_001)

    shown = entitlements(alice)

    assert shown.keys() == {"plan", "balance_usd", "features", "verify_email", "models"}
    assert (shown["plan"], shown["balance_usd"]) == ("starter", 1.500000001)
    assert shown["features"] == {
        "council": True,
        "projects": True,
        "videos": False,
        "assets_3d": False,
        "workspaces": False,
    }
    listed = AIModel.objects.exclude(modality="embedding").order_by("id")
    assert [(row["model"], row["display_name"], row["modality"]) for row in shown["models"]] == [
        (model.id, model.display_name, model.modality) for model in listed
    ]


def test_a_model_of_the_plan_shows_what_is_left_of_it_this_month() -> None:
    alice = new_account(plan="max")
    owner = live_owner()
    settle(hold(alice, 400_000_000, owner=owner, model=IN_PLAN)[1], 300_000_000)
    hold(alice, 200_000_000, owner=owner, model=IN_PLAN)

    shown = models(alice)[IN_PLAN]

    month_end = datetime.fromisoformat(shown.pop("resets_at"))
    assert (month_end.day, month_end.time().isoformat()) == (1, "00:00:00")
    assert timedelta() < month_end - datetime.now(month_end.tzinfo) <= timedelta(days=31)
    assert shown == {
        "model": IN_PLAN,
        "display_name": "GPT-6 Luna",
        "modality": "chat",
        "included_in_plan": True,
        "allowance_usd": 1.5,
        "used_usd": 0.3,
        "remaining_usd": 1.0,
        "free": None,
        "callable": True,
    }
    release_all(alice)


def test_a_model_beyond_the_plan_has_no_allowance_and_takes_the_balance() -> None:
    alice, bob = new_account(balance=1), new_account(balance=0)

    assert models(alice)[BALANCE_ONLY] == {
        "model": BALANCE_ONLY,
        "display_name": "Kimi K3",
        "modality": "chat",
        "included_in_plan": False,
        "allowance_usd": 0,
        "used_usd": 0,
        "remaining_usd": 0,
        "resets_at": None,
        "free": None,
        "callable": True,
    }
    assert models(bob)[BALANCE_ONLY]["callable"] is False
    assert models(bob)[IN_PLAN]["callable"] is True


def test_an_allowance_that_is_used_up_leaves_the_balance() -> None:
    alice = new_account(plan="max", balance=100)
    settle(hold(alice, 1_500_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_500_000_000)

    assert models(alice)[IN_PLAN]["remaining_usd"] == 0
    assert models(alice)[IN_PLAN]["callable"] is True
    _, charge = hold(alice, 50, owner=live_owner())  # holds all of the balance
    assert models(alice)[IN_PLAN]["callable"] is False
    release(charge)
    assert models(alice)[IN_PLAN]["callable"] is True


def test_a_smaller_plan_leaves_nothing_and_never_less() -> None:
    alice = new_account(plan="max", balance=0)
    settle(hold(alice, 1_000_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_000_000_000)

    change_plan(account=alice, plan="starter", forced=True)

    shown = models(alice)[IN_PLAN]
    assert (shown["allowance_usd"], shown["used_usd"], shown["remaining_usd"]) == (0.6, 1.0, 0)
    assert shown["callable"] is False


def test_a_contract_counts_as_the_plan() -> None:
    bob = new_account(plan="enterprise", balance=0)
    assert callable_models(bob) == set()

    set_contract(account=bob, model_id=BALANCE_ONLY, granted=5_000_000_000)

    shown = models(bob)[BALANCE_ONLY]
    assert (shown["included_in_plan"], shown["allowance_usd"]) == (True, 5)
    assert shown["resets_at"]
    assert callable_models(bob) == {BALANCE_ONLY}


def test_a_new_month_begins_with_everything() -> None:
    alice = new_account(plan="max", balance=0)
    with clock("2026-10-31T23:59:59Z"):
        settle(hold(alice, 1_500_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_500_000_000)
        assert models(alice)[IN_PLAN]["callable"] is False
        assert models(alice)[IN_PLAN]["resets_at"] == "2026-11-01T00:00:00.000000Z"
    with clock("2026-11-01T00:00:00Z"):
        assert models(alice)[IN_PLAN]["remaining_usd"] == 1.5
        assert models(alice)[IN_PLAN]["callable"] is True


# --- The free plan ------------------------------------------------------------------------------


def test_the_free_plan_can_chat_with_free_models_and_nothing_else_whatever_the_balance() -> None:
    poor, rich = (new_account(plan="free", balance=balance) for balance in (0, 10**12))
    free = {model.id for model in AIModel.objects.filter(free=True, modality="chat")}
    others = {m.id for m in AIModel.objects.filter(modality__in=["image", "speech"])}

    assert callable_models(poor) == free
    assert callable_models(rich) == free | others
    assert {name for name, row in models(poor).items() if row["free"]} == free


def test_free_messages_are_counted_from_the_first_for_four_hours() -> None:
    charlie = new_account(plan="free", balance=0)
    unused = {"limit": 10, "window_hours": 4, "used": 0, "reset_at": None}
    assert models(charlie)[FREE_MODEL]["free"] == unused

    with clock("2026-10-23T12:00:00Z"):
        send_free_message(charlie)
    with clock("2026-10-23T15:59:59Z"):
        send_free_message(charlie)
        shown = models(charlie)
        assert shown[FREE_MODEL]["free"] == {
            "limit": 10,
            "window_hours": 4,
            "used": 2,
            "reset_at": "2026-10-23T16:00:00.000000Z",
        }
        other = next(name for name, row in shown.items() if row["free"] and name != FREE_MODEL)
        assert shown[other]["free"] == unused
    with clock("2026-10-23T16:00:00Z"):
        assert models(charlie)[FREE_MODEL]["free"] == unused


def test_a_model_whose_free_messages_are_used_up_waits_for_its_window() -> None:
    charlie = new_account(plan="free", balance=10**12)
    with clock("2026-10-23T12:00:00Z"):
        verdicts = [send_free_message(charlie) for _ in range(11)]
        assert verdicts == ["held"] * 10 + ["free_limit"]
        assert models(charlie)[FREE_MODEL]["free"]["used"] == 10
        assert FREE_MODEL not in callable_models(charlie)
    with clock("2026-10-23T16:00:00Z"):
        assert FREE_MODEL in callable_models(charlie)
        assert send_free_message(charlie) == "held"


def test_a_paid_plan_has_no_window_whatever_was_used_before() -> None:
    charlie = new_account(plan="free", balance=0)
    for _ in range(10):
        send_free_message(charlie)

    change_plan(account=charlie, plan="starter")

    assert not any(row["free"] for row in models(charlie).values())
    assert models(charlie)[FREE_MODEL]["callable"] is True


# --- Features of plans --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "has_studios"), [("free", False), ("starter", False), ("pro", True)]
)
def test_films_and_assets_need_a_plan_that_has_them(plan: str, has_studios: bool) -> None:
    alice = new_account(plan=plan, balance=10**12)

    shown = models(alice)

    for name, modality in (("veo-3.1", "video"), ("meshy-6", "3d")):
        assert shown[name]["modality"] == modality
        assert shown[name]["included_in_plan"] is False
        assert shown[name]["callable"] is has_studios
    assert shown[IMAGE_BALANCE_ONLY]["callable"] is True


# --- The rest -----------------------------------------------------------------------------------


def test_a_model_whose_provider_is_not_configured_cannot_be_called(settings: Settings) -> None:
    alice = new_account(plan="max")
    assert len(callable_models(alice)) == len(models(alice))

    settings.PROVIDERS = from_environ(
        {"OPENAI_API_KEY": "key", "BFL_API_KEY": "key"}, simulated=frozenset(), simulator_url=""
    )

    of_those = AIModel.objects.filter(provider__in=["openai", "bfl"])
    assert callable_models(alice) == {model.id for model in of_those.exclude(modality="embedding")}
    assert {IMAGE_IN_PLAN, IMAGE_BALANCE_ONLY, IN_PLAN} <= callable_models(alice)
    assert models(alice)[BALANCE_ONLY]["included_in_plan"] is False


def test_it_is_ones_own() -> None:
    alice, bob = new_account(plan="max"), new_account(plan="max", balance=0)
    settle(hold(alice, 1_000_000, owner=live_owner(), model=IN_PLAN)[1], 1_000_000)

    assert models(bob)[IN_PLAN]["used_usd"] == 0
    assert entitlements(bob)["balance_usd"] == 0


@pytest.mark.parametrize(("plan", "queries"), [("max", 2), ("free", 3)])
def test_it_takes_few_queries_however_much_was_used(
    plan: str,
    queries: int,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    alice = new_account(plan=plan)
    User.objects.filter(pk=alice.pk).update(email_verified=True)
    for model in (IN_PLAN, BALANCE_ONLY, IMAGE_IN_PLAN):
        settle(hold(alice, 10, owner=live_owner(), model=model)[1], 10)
    client = client_of(alice)
    # The catalog is fetched every few seconds, for all requests together.
    monkeypatch.setattr(snapshots, "MAX_AGE", 3_600.0)
    client.get(URL)

    with django_assert_num_queries(queries):
        client.get(URL)


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
