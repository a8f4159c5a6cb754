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
BASE = {"code", "message", "model_key", "plan", "balance_usd", "needed_usd"}


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


def test_insufficient_balance_says_what_was_needed() -> None:
    alice = new_account(plan="max", balance=0)

    refused = detail(begin(alice, BALANCE_ONLY, 250_000_000))

    assert refused == {
        "code": "insufficient_balance",
        "model_key": BALANCE_ONLY,
        "plan": "max",
        "balance_usd": 0.0,
        "needed_usd": 0.5,
    }


def test_insufficient_for_request_says_what_can_be_afforded() -> None:
    alice = new_account(plan="max", balance=100_000_000)

    refused = detail(begin(alice, IN_PLAN, 1_600_000_000), "afford_usd")

    assert refused == {
        "code": "insufficient_for_request",
        "model_key": IN_PLAN,
        "plan": "max",
        "balance_usd": 0.1,
        "needed_usd": 1.7,  # 1.5 from the plan, and twice the rest
        "afford_usd": 1.6,
    }
    admitted = begin(alice, IN_PLAN, 1_550_000_000)  # by exactly what there is
    assert admitted.status_code == 200
    release(admitted.json()["charge"])


def test_the_balance_of_a_402_is_what_no_running_call_holds() -> None:
    alice = new_account(plan="max", balance=100_000_000)
    assert begin(alice, BALANCE_ONLY, 30_000_000).status_code == 200

    refused = detail(begin(alice, BALANCE_ONLY, 30_000_000), "afford_usd")

    assert (refused["balance_usd"], refused["afford_usd"]) == (0.04, 0.04)
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
        "balance_usd": 5.0,
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
        "balance_usd": 0.0,
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
        "balance_usd": 1.0,
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
        "balance_usd": 0.0,
        "needed_usd": None,
        "feature": feature,
        "required_plan": "pro",
    }
    for bigger in ("pro", "max", "advanced", "enterprise"):
        assert use(new_account(plan=bigger), feature).status_code == 200
