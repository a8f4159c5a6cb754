"""GET /api/billing/balance: prepaid balance."""

import pytest
from rest_framework.test import APIClient

from billing.tests.bank import hold, live_owner, new_account, release, settle
from billing.tests.web_app import client_of
from conftest import Persona

URL = "/api/billing/balance"


def test_a_new_account_has_none(alice: Persona) -> None:
    response = alice.client.get(URL)

    assert response.status_code == 200
    assert response.json() == {
        "balance_usd": 0,
        "held_usd": 0,
        "available_usd": 0,
        "currency": "USD",
    }


@pytest.mark.usefixtures("committed")
def test_what_running_calls_hold_is_not_available() -> None:
    alice = new_account(balance=2_000_000_001)
    _, charge = hold(alice, 250_000_000, owner=live_owner())

    assert client_of(alice).get(URL).json() == {
        "balance_usd": 2.000000001,
        "held_usd": 0.5,
        "available_usd": 1.500000001,
        "currency": "USD",
    }

    settle(charge, 1)
    shown = client_of(alice).get(URL).json()
    assert (shown["balance_usd"], shown["held_usd"]) == (1.999999999, 0)


@pytest.mark.usefixtures("committed")
def test_it_is_ones_own() -> None:
    alice, bob = new_account(balance=1_000_000_000), new_account(balance=0)
    _, charge = hold(alice, 1, owner=live_owner())

    assert client_of(bob).get(URL).json()["balance_usd"] == 0
    release(charge)


@pytest.mark.django_db
def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
