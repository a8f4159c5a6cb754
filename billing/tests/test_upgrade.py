"""POST /api/billing/upgrade: change plan (no payment is taken)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from billing.models import Allowance, Subscription
from billing.services.balance import set_contract
from billing.tests.bank import (
    BALANCE_ONLY,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    release_all,
    settle,
)
from billing.tests.web_app import client_of, clock

URL = "/api/billing/upgrade"
pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
def self_service(settings: Settings) -> None:
    settings.SELF_SERVICE_TOPUP = True


def send(user: User, plan: Any, key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key is not None else {}
    return client_of(user).post(URL, {"plan": plan}, format="json", headers=headers)


def plan_of(user: User) -> str:
    return Subscription.objects.get(account=user).plan_id


def use(user: User, cost: int) -> None:
    settle(hold(user, cost, owner=live_owner(), model=IN_PLAN)[1], cost)


def test_it_changes_the_plan_and_answers_the_subscription() -> None:
    alice = new_account(plan="free")

    response = send(alice, "pro")

    assert response.status_code == 200
    assert response.json() == client_of(alice).get("/api/billing/subscription").json()
    assert (response.json()["plan"], response.json()["status"]) == ("pro", "active")
    assert plan_of(alice) == "pro"


def test_this_months_allowances_take_the_new_size_and_what_was_used_stays_used() -> None:
    alice = new_account(plan="starter")
    use(alice, 100_000_000)

    send(alice, "max")

    allowance = Allowance.objects.get(account=alice, model=IN_PLAN)
    assert (allowance.granted, allowance.used) == (1_500_000_000, 100_000_000)


def test_a_smaller_plan_is_taken_while_what_was_used_fits() -> None:
    alice = new_account(plan="max")
    use(alice, 600_000_000)  # all that Starter grants

    assert send(alice, "starter").status_code == 200
    assert plan_of(alice) == "starter"


def test_down_while_usage_exceeds_it_is_409_and_names_the_model() -> None:
    alice = new_account(plan="max")
    use(alice, 600_000_001)

    response = send(alice, "starter")

    assert response.status_code == 409
    assert response.json()["model_key"] == IN_PLAN
    assert IN_PLAN in response.json()["detail"]
    assert plan_of(alice) == "max"
    with clock("2100-01-01T00:00:00Z"):
        assert send(alice, "starter").status_code == 200


def test_what_running_calls_hold_counts_as_used() -> None:
    alice = new_account(plan="max")
    hold(alice, 600_000_001, owner=live_owner(), model=IN_PLAN)

    assert send(alice, "free").status_code == 409
    release_all(alice)
    assert send(alice, "free").status_code == 200


def test_the_plan_one_has_is_409() -> None:
    assert send(new_account(plan="pro"), "pro").status_code == 409
    assert send(new_account(plan="enterprise"), "enterprise").status_code == 409


@pytest.mark.parametrize("plan", ["gold", "PRO", "", " ", "'; --", "x" * 5000, 1, None, ["pro"]])
def test_an_unknown_plan_is_422(plan: Any) -> None:
    alice = new_account(plan="free")

    response = send(alice, plan)

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["plan"]
    assert plan_of(alice) == "free"


def test_without_a_plan_it_is_422() -> None:
    response = client_of(new_account()).post(URL, {}, format="json")

    assert response.status_code == 422


def test_a_plan_by_contract_is_neither_taken_nor_left_here() -> None:
    alice, bob = new_account(plan="max"), new_account(plan="enterprise")
    set_contract(account=bob, model_id=BALANCE_ONLY, granted=1)

    for response in (send(alice, "enterprise"), send(bob, "max")):
        assert response.status_code == 403
        assert "contract" in response.json()["detail"]
    assert send(bob, "gold").status_code == 422
    assert (plan_of(alice), plan_of(bob)) == ("max", "enterprise")


def test_sent_again_under_its_name_it_answers_what_it_answered() -> None:
    alice = new_account(plan="free")
    with clock("2026-10-31T23:59:00Z"):
        first = send(alice, "pro", "change-1")
    assert first.status_code == 200

    with clock("2026-11-01T00:01:00Z"):
        assert send(alice, "pro", "change-1").json() == first.json()
        send(alice, "max")
        again = send(alice, "pro", "change-1")
    assert (again.status_code, again.json()) == (200, first.json())
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert first.json()["current_period_start"].startswith("2026-10-01")
    assert plan_of(alice) == "max"


def test_sent_twice_at_once_under_one_name_both_are_answered_alike() -> None:
    alice = new_account(plan="free")
    together = Barrier(4)

    def upgrade(_: int) -> Any:
        together.wait()
        try:
            return send(alice, "pro", "change-1")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(upgrade, range(4)))

    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.content for answer in answers}) == 1


def test_sent_twice_without_a_name_the_second_is_told_that_it_came_late() -> None:
    alice = new_account(plan="free")

    assert [send(alice, "pro").status_code for _ in range(2)] == [200, 409]


def test_another_plan_under_the_same_name_is_422() -> None:
    alice = new_account(plan="free")
    send(alice, "pro", "change-1")

    response = send(alice, "max", "change-1")

    assert response.status_code == 422
    assert "Idempotency-Key" in response.json()["detail"]
    assert plan_of(alice) == "pro"


def test_a_name_lasts_a_day_and_a_refusal_leaves_it_free() -> None:
    alice = new_account(plan="free")
    assert send(alice, "enterprise", "change-1").status_code == 403
    with clock("2026-10-23T12:00:00Z"):
        assert send(alice, "pro", "change-1").status_code == 200
    with clock("2026-10-24T12:00:00Z"):
        assert send(alice, "max", "change-1").status_code == 200
    assert plan_of(alice) == "max"


def test_a_name_of_a_topup_is_not_that_of_an_upgrade() -> None:
    alice = new_account(plan="free")
    headers = {"Idempotency-Key": "1"}
    topup = client_of(alice).post(
        "/api/billing/topup", {"amount_usd": 1}, format="json", headers=headers
    )

    assert topup.status_code == 201
    assert send(alice, "pro", "1").status_code == 200


def test_a_malformed_name_is_422() -> None:
    alice = new_account(plan="free")

    assert send(alice, "pro", "x" * 256).status_code == 422
    assert plan_of(alice) == "free"


def test_where_accounts_cannot_serve_themselves_it_is_403(settings: Settings) -> None:
    settings.SELF_SERVICE_TOPUP = False
    alice = new_account(plan="free")

    response = send(alice, "max")

    assert response.status_code == 403
    assert "support" in response.json()["detail"]
    assert plan_of(alice) == "free"


def test_it_changes_ones_own_plan_only() -> None:
    alice, bob = new_account(plan="free"), new_account(plan="free")
    body = {"plan": "max", "account": str(bob.pk), "user": str(bob.pk)}

    client_of(alice).post(URL, body, format="json")

    assert (plan_of(alice), plan_of(bob)) == ("max", "free")


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.post(URL, {"plan": "max"}, format="json").status_code == 401
