"""POST /api/billing/topup: add balance (no payment is taken)."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from billing.models import LedgerEntry
from billing.tests.bank import new_account, wallet_of
from billing.tests.web_app import client_of, clock
from common.money import NUSD_PER_USD

URL = "/api/billing/topup"
pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
def self_service(settings: Settings) -> None:
    settings.SELF_SERVICE_TOPUP = True


def send(user: User, amount: Any, key: str | None = None) -> Any:
    """A top-up of an amount, which may be written as JSON text."""
    body = f'{{"amount_usd": {amount}}}' if isinstance(amount, str) else {"amount_usd": amount}
    headers = {"Idempotency-Key": key} if key is not None else {}
    text = body if isinstance(body, str) else json.dumps(body)
    return client_of(user).post(URL, text, content_type="application/json", headers=headers)


def test_it_adds_to_the_balance_and_answers_the_entry() -> None:
    alice = new_account(balance=5)

    response = send(alice, 12.34)

    assert response.status_code == 201
    entry = LedgerEntry.objects.get(account=alice, seq=2)
    assert response.json() == {
        "id": str(entry.pk),
        "kind": "topup",
        "amount_usd": 12.34,
        "balance_after_usd": 12.340000005,
        "allowance_usd": None,
        "description": "Top-up",
        "charge_id": None,
        "created_at": response.json()["created_at"],
    }
    assert wallet_of(alice).balance == 12_340_000_005


@pytest.mark.parametrize("amount", ["1", "1.00", "1e0", "10000", "1e4", "10000.00", "99.99"])
def test_whole_cents_from_1_to_10000_dollars_are_taken(amount: str) -> None:
    alice = new_account(balance=0)

    assert send(alice, amount).status_code == 201
    assert wallet_of(alice).balance == round(float(amount) * 100) * NUSD_PER_USD // 100


@pytest.mark.parametrize(
    "amount",
    [
        "0",
        "-0.0",
        "0.001",
        "0.99",
        "-5",
        "1e9",
        "1e400",
        "9" * 5000,
        '"NaN"',
        "true",
        "null",
        '"10"',
        "10.001",
        "10.000000000000000000001",
        "10000.01",
        "1e-400",
        "[10]",
        '{"usd": 10}',
    ],
)
def test_any_other_amount_is_422(amount: str) -> None:
    alice = new_account(balance=0)

    response = send(alice, amount)

    assert response.status_code == 422
    assert isinstance(response.json()["detail"], str)
    assert wallet_of(alice).balance == 0


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-Infinity", "01", "1.", ""])
def test_what_is_no_json_is_400(amount: str) -> None:
    alice = new_account(balance=0)

    assert send(alice, amount).status_code == 400
    assert wallet_of(alice).balance == 0


@pytest.mark.parametrize("body", ["{}", '{"amount": 10}', "[]", "10", "null", '"10"'])
def test_a_body_without_an_amount_is_422(body: str) -> None:
    alice = new_account(balance=0)

    response = client_of(alice).post(URL, body, content_type="application/json")

    assert response.status_code == 422


def test_the_error_names_the_field_and_the_bounds() -> None:
    response = send(new_account(balance=0), 0)

    assert response.json() == {
        "detail": "amount_usd: An amount is from 1 to 10,000 US dollars.",
        "code": "validation_failed",
        "errors": [
            {"loc": ["amount_usd"], "msg": "An amount is from 1 to 10,000 US dollars."},
        ],
    }


def test_unknown_fields_are_ignored() -> None:
    alice = new_account(balance=0)
    body = {"amount_usd": 3, "balance_usd": 1_000_000, "account": "bob", "kind": "adjust"}

    response = client_of(alice).post(URL, body, format="json")

    assert response.status_code == 201
    assert wallet_of(alice).balance == 3 * NUSD_PER_USD


def test_sent_again_under_its_name_it_adds_once_and_answers_the_same() -> None:
    alice = new_account(balance=0)

    first, second = send(alice, "10", "order-1"), send(alice, "10.00", "order-1")

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert wallet_of(alice).balance == 10 * NUSD_PER_USD
    assert send(alice, 10, "order-2").json()["id"] != first.json()["id"]
    assert wallet_of(alice).balance == 20 * NUSD_PER_USD


def test_sent_twice_at_once_under_one_name_it_adds_once() -> None:
    alice = new_account(balance=0)
    together = Barrier(4)

    def topup(_: int) -> Any:
        together.wait()
        try:
            return send(alice, 10, "order-1")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(topup, range(4)))

    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.content for answer in answers}) == 1
    assert LedgerEntry.objects.filter(account=alice).count() == 1
    assert wallet_of(alice).balance == 10 * NUSD_PER_USD


def test_another_amount_under_the_same_name_is_422() -> None:
    alice = new_account(balance=0)
    send(alice, 10, "order-1")

    response = send(alice, 11, "order-1")

    assert response.status_code == 422
    [problem] = response.json()["errors"]
    assert problem == {"loc": [], "msg": response.json()["detail"]}
    assert "Idempotency-Key" in response.json()["detail"]
    assert wallet_of(alice).balance == 10 * NUSD_PER_USD


def test_a_name_is_ones_own_and_lasts_a_day() -> None:
    alice, bob = new_account(balance=0), new_account(balance=0)
    with clock("2026-10-23T12:00:00Z"):
        send(alice, 10, "order-1")
    assert send(bob, 10, "order-1").status_code == 201
    with clock("2026-10-24T11:59:59Z"):
        assert send(alice, 10, "order-1").json()["created_at"].startswith("2026-10-23")
    with clock("2026-10-24T12:00:00Z"):
        assert send(alice, 11, "order-1").status_code == 201

    assert wallet_of(alice).balance == 21 * NUSD_PER_USD
    assert wallet_of(bob).balance == 10 * NUSD_PER_USD


def test_a_refused_topup_leaves_its_name_free() -> None:
    alice = new_account(balance=0)

    assert send(alice, 0, "order-1").status_code == 422
    assert send(alice, 10, "order-1").status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\u00e9", "tab\there", "\x7f"])
def test_a_malformed_name_is_422(key: str) -> None:
    alice = new_account(balance=0)

    response = send(alice, 10, key)

    assert response.status_code == 422
    assert "255" in response.json()["detail"]
    assert wallet_of(alice).balance == 0


@pytest.mark.parametrize("key", [" ", "~", "x" * 255])
def test_any_printable_name_of_up_to_255_characters_will_do(key: str) -> None:
    assert send(new_account(balance=0), 10, key).status_code == 201


def test_where_accounts_cannot_serve_themselves_it_is_403(settings: Settings) -> None:
    settings.SELF_SERVICE_TOPUP = False
    alice = new_account(balance=0)

    response = send(alice, 10)

    assert response.status_code == 403
    assert "support" in response.json()["detail"]
    assert wallet_of(alice).balance == 0


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.post(URL, {"amount_usd": 10}, format="json").status_code == 401
