"""GET /api/billing/transactions: transaction history."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from billing.models import Charge, LedgerEntry
from billing.services.balance import adjust, refund, topup
from billing.tests.bank import hold, live_owner, new_account, settle
from billing.tests.web_app import client_of, clock
from common.ids import uuid7
from common.money import NUSD_PER_USD

URL = "/api/billing/transactions"
pytestmark = pytest.mark.usefixtures("committed")


def transactions(user: User, query: str = "") -> list[dict[str, Any]]:
    response = client_of(user).get(f"{URL}?{query}")
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()
    return rows


def account_with_history() -> User:
    """Ten dollars came, a call took 0.4 of them, an operator 2."""
    user = new_account(balance=10 * NUSD_PER_USD)
    settle(hold(user, NUSD_PER_USD, owner=live_owner())[1], 200_000_000)
    adjust(operation_id=uuid7(), account=user, delta=-2 * NUSD_PER_USD, reason="Refunded")
    return user


def test_the_newest_comes_first_with_the_balance_it_left() -> None:
    alice = account_with_history()

    shown = transactions(alice)

    assert [
        (row["kind"], row["amount_usd"], row["balance_after_usd"], row["description"])
        for row in shown
    ] == [
        ("adjust", -2, 7.6, "Refunded"),
        ("charge", -0.4, 9.6, "kimi-k3"),
        ("topup", 10, 10, "Top-up"),
    ]
    assert shown[0].keys() == {
        "id",
        "kind",
        "amount_usd",
        "balance_after_usd",
        "allowance_usd",
        "description",
        "charge_id",
        "created_at",
    }
    assert all(row["created_at"].endswith("Z") for row in shown)


def test_a_charge_names_its_call_and_nothing_else_does() -> None:
    alice = account_with_history()

    ids = [(row["charge_id"], row["id"]) for row in transactions(alice)]

    assert [charge for charge, _ in ids] == [None, ids[1][1], None]


def test_the_order_is_that_of_the_ledger_whatever_the_ids() -> None:
    """A call that ended later than a top-up may have begun, and been named, before it."""
    alice = new_account()
    owner = live_owner()
    _, early = hold(alice, 100, owner=owner)
    topup(operation_id=uuid7(), account=alice, amount=5)
    settle(early, 1)

    assert [row["kind"] for row in transactions(alice)] == ["charge", "topup", "topup"]
    rest = transactions(alice, f"before={early}")
    assert [row["amount_usd"] for row in rest] == [0.000000005, 1]


def test_pages_link_to_the_next_until_all_is_read() -> None:
    alice = account_with_history()
    client = client_of(alice)
    everything = transactions(alice)

    first = client.get(f"{URL}?limit=2")
    assert first.json() == everything[:2]
    link, _, relation = first["Link"].partition("; ")
    assert relation == 'rel="next"'
    second = client.get(link.strip("<>"))
    assert second.json() == everything[2:]
    assert "Link" not in second


def test_a_page_holds_at_most_a_hundred() -> None:
    alice = new_account(balance=0)
    for _ in range(101):
        topup(operation_id=uuid7(), account=alice, amount=1)

    response = client_of(alice).get(f"{URL}?limit=5000")

    assert len(response.json()) == 100
    assert "Link" in response


@pytest.mark.parametrize("kind", LedgerEntry.Kind.values)
def test_one_kind_can_be_asked_for_page_by_page(kind: str) -> None:
    alice = account_with_history()
    call = Charge.objects.get(account=alice)
    refund(operation_id=uuid7(), charge=call, amount=1, reason="Cut off")

    assert [row["kind"] for row in transactions(alice, f"kind={kind}")] == [kind]
    settle(hold(alice, NUSD_PER_USD, owner=live_owner())[1], 1)
    response = client_of(alice).get(f"{URL}?kind=charge&limit=1")
    assert "kind=charge" in response["Link"]


def test_other_peoples_entries_are_neither_shown_nor_a_place_to_go_on_from() -> None:
    alice, bob = account_with_history(), account_with_history()
    [newest, *_] = transactions(bob)

    assert newest["id"] not in [row["id"] for row in transactions(alice)]
    response = client_of(alice).get(f"{URL}?before={newest['id']}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["before"]


@pytest.mark.parametrize(
    "query",
    [
        "kind=gift",
        "kind=",
        "limit=0",
        "limit=x",
        "before=x",
        "before=",
        "before=019a9b4e-0000-7000-8000-000000000000",
        "kind=%00",
    ],
)
def test_a_wrong_query_value_is_422(query: str) -> None:
    response = client_of(account_with_history()).get(f"{URL}?{query}")

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [query.partition("=")[0]]


def test_times_are_those_of_the_money() -> None:
    alice = new_account(balance=0)
    with clock("2026-10-23T12:00:00Z"):
        topup(operation_id=uuid7(), account=alice, amount=1)

    assert transactions(alice)[0]["created_at"] == "2026-10-23T12:00:00.000000Z"


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
