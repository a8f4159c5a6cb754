"""402 on `/api`: the payment-required detail object, with the fields of each of its codes."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from ai.catalog.selectors import get_catalog
from billing.models import FreeWindow
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    live_owner,
    new_account,
    release,
    release_all,
)
from billing.tests.web_app import client_of
from common.times import iso_utc

pytestmark = [pytest.mark.usefixtures("committed"), pytest.mark.urls("billing.tests.paywall")]

# Of every 402, whatever its code.
FUNDS = {"balance_usd", "held_usd", "available_usd"}
BASE = {"code", "message", "model_key", "plan", "needed_usd", *FUNDS}


def begin(user: User, model: str, worst_cost: int, *, chat: bool = False) -> Any:
    body = {"model": model, "worst_cost": worst_cost, "owner": str(live_owner()), "chat": chat}
    return client_of(user).post("/api/calls", body, format="json")


def use(user: User, feature: str) -> Any:
    return client_of(user).post(f"/api/features/{feature}")


def detail(response: Any, *own: str) -> dict[str, Any]:
    """What a 402 says, apart from its sentence; it has the fields of all and its own."""
    assert response.status_code == 402, response.content
    assert response.json().keys() == {"detail"}
    said: dict[str, Any] = response.json()["detail"]
    assert said.keys() == BASE | set(own)
    message = said.pop("message")
    assert isinstance(message, str)
    assert message.endswith(".")
    return said


def free_funds(usd: float) -> dict[str, float]:
    """What a 402 says of a balance of which no running call holds anything."""
    return {"balance_usd": usd, "held_usd": 0, "available_usd": usd}


def test_insufficient_balance_says_what_was_needed() -> None:
    alice = new_account(plan="max", balance=0)

    refused = detail(begin(alice, BALANCE_ONLY, 250_000_000))

    assert refused == {
        "code": "insufficient_balance",
        "model_key": BALANCE_ONLY,
        "plan": "max",
        **free_funds(0.0),
        "needed_usd": 0.5,
    }


def test_insufficient_for_request_says_what_can_be_afforded() -> None:
    alice = new_account(plan="max", balance=100_000_000)

    refused = detail(begin(alice, IN_PLAN, 1_600_000_000), "afford_usd")

    assert refused == {
        "code": "insufficient_for_request",
        "model_key": IN_PLAN,
        "plan": "max",
        **free_funds(0.1),
        "needed_usd": 1.7,  # 1.5 from the plan, and twice the rest
        "afford_usd": 1.6,
    }
    admitted = begin(alice, IN_PLAN, 1_550_000_000)  # by exactly what there is
    assert admitted.status_code == 200
    release(admitted.json()["charge"])


def shown(user: User, path: str) -> dict[str, float]:
    """The amounts that all answers about money share, as another endpoint shows them."""
    answer = client_of(user).get(path).json()
    return {name: answer[name] for name in FUNDS}


def test_the_funds_of_a_402_are_those_of_the_balance_and_the_wallet() -> None:
    alice = new_account(plan="max", balance=100_000_000)
    assert begin(alice, BALANCE_ONLY, 30_000_000).status_code == 200

    refused = detail(begin(alice, BALANCE_ONLY, 60_000_000), "afford_usd")

    funds = {"balance_usd": 0.1, "held_usd": 0.06, "available_usd": 0.04}
    assert {name: refused[name] for name in FUNDS} == funds
    assert shown(alice, "/api/billing/balance") == shown(alice, "/api/billing/wallet") == funds
    assert refused["afford_usd"] == 0.04
    release_all(alice)


@pytest.mark.parametrize(
    ("model", "balance", "held", "code"),
    [
        (BALANCE_ONLY, 100_000_000, 45_000_000, "insufficient_for_request"),
        (BALANCE_ONLY, 100_000_000, 50_000_000, "insufficient_balance"),
        (IN_PLAN, 0, 1_500_000_000, "insufficient_balance"),  # the allowance is held
    ],
)
def test_money_that_running_calls_hold_is_waited_for(
    model: str, balance: int, held: int, code: str
) -> None:
    alice = new_account(plan="max", balance=balance)
    assert begin(alice, model, held).status_code == 200

    response = begin(alice, model, 30_000_000)

    said = response.json()["detail"]
    assert (response.status_code, said["code"]) == (402, code)
    assert response["Retry-After"] == "10"
    assert "Wait until they have ended" in said["message"]
    assert "op up" not in said["message"]
    release_all(alice)
    admitted = begin(alice, model, 30_000_000)
    assert admitted.status_code == 200
    release(admitted.json()["charge"])


def test_a_request_that_would_not_be_covered_by_what_is_held_either_is_not_waited_for() -> None:
    alice = new_account(plan="max", balance=100_000_000)
    assert begin(alice, BALANCE_ONLY, 30_000_000).status_code == 200

    response = begin(alice, BALANCE_ONLY, 50_000_001)

    assert "Retry-After" not in response
    assert "top up" in response.json()["detail"]["message"]
    release_all(alice)


def test_free_limit_says_when_the_window_begins_anew() -> None:
    charlie = new_account(plan="free", balance=5_000_000_000)
    for _ in range(10):
        assert begin(charlie, FREE_MODEL, 10, chat=True).status_code == 200

    own = ("limit", "window_hours", "used", "reset_at")
    refused = detail(begin(charlie, FREE_MODEL, 10, chat=True), *own)

    window = FreeWindow.objects.get(account=charlie)
    assert refused == {
        "code": "free_limit",
        "model_key": FREE_MODEL,
        "plan": "free",
        **free_funds(5.0),
        "needed_usd": None,
        "limit": 10,
        "window_hours": 4,
        "used": 10,
        "reset_at": iso_utc(window.window_start + timedelta(hours=4)),
    }
    release_all(charlie)


def test_free_model_locked_names_the_free_ones() -> None:
    charlie = new_account(plan="free", balance=0)

    refused = detail(begin(charlie, BALANCE_ONLY, 10, chat=True), "free_models")

    assert refused == {
        "code": "free_model_locked",
        "model_key": BALANCE_ONLY,
        "plan": "free",
        **free_funds(0.0),
        "needed_usd": None,
        "free_models": get_catalog().free_models,
    }
    assert FREE_MODEL in refused["free_models"]


@pytest.mark.parametrize("feature", ["council", "projects"])
def test_plan_required_names_the_feature(feature: str) -> None:
    charlie = new_account(plan="free", balance=1_000_000_000)

    refused = detail(use(charlie, feature), "feature")

    assert refused == {
        "code": "plan_required",
        "model_key": None,
        "plan": "free",
        **free_funds(1.0),
        "needed_usd": None,
        "feature": feature,
    }
    assert use(new_account(plan="starter"), feature).status_code == 200


@pytest.mark.parametrize("feature", ["videos", "assets_3d", "workspaces"])
@pytest.mark.parametrize("plan", ["free", "starter"])
def test_feature_required_names_the_smallest_plan_that_has_it(plan: str, feature: str) -> None:
    bob = new_account(plan=plan, balance=0)

    refused = detail(use(bob, feature), "feature", "required_plan")

    assert refused == {
        "code": "feature_required",
        "model_key": None,
        "plan": plan,
        **free_funds(0.0),
        "needed_usd": None,
        "feature": feature,
        "required_plan": "pro",
    }
    for bigger in ("pro", "max", "advanced", "enterprise"):
        assert use(new_account(plan=bigger), feature).status_code == 200
