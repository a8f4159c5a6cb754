"""The reply to a money verb is lost on its way: nothing is billed twice, nothing stays locked."""

from urllib.parse import urlsplit

import pytest

from billing.models import Charge
from billing.tests.bank import run, wallet_of
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.proxy import lossy_proxy
from tests.personas import new_key, new_user
from tests.service import database_url, running_web

pytestmark = pytest.mark.usefixtures("committed")


def test_a_hold_whose_reply_is_lost_is_free_again_within_a_minute(
    simulator: RunningSimulator,
) -> None:
    """The caller is told 503. The process finds, by its next heartbeats, a charge that it holds
    and does not know, and releases it."""
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    address = urlsplit(database_url())
    assert address.port

    with lossy_proxy(address.port) as proxy:
        through_proxy = database_url().replace(f":{address.port}/", f":{proxy.port}/")
        with running_web(simulator, DATABASE_URL=through_proxy) as web:
            proxy.lose_reply_to = b"money_hold"
            answer = calls.post(web.url, key, calls.body(marker))

            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "service_unavailable"
            assert calls.only_charge(alice).status == "held"
            # As if it had been held for the 15 seconds after which the process looks.
            run(
                "UPDATE billing_charge SET admitted_at = admitted_at - interval '16 s'"
                " WHERE account_id = %s RETURNING 1",
                alice.pk,
            )
            calls.wait_for(
                lambda: Charge.objects.filter(account=alice, status="released").exists(),
                seconds=45,
            )

    assert simulator.calls(marker) == []
    assert wallet_of(alice).held == 0


def test_a_settlement_whose_reply_is_lost_bills_once(simulator: RunningSimulator) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    address = urlsplit(database_url())
    assert address.port

    with lossy_proxy(address.port) as proxy:
        through_proxy = database_url().replace(f":{address.port}/", f":{proxy.port}/")
        with running_web(simulator, DATABASE_URL=through_proxy) as web:
            proxy.lose_reply_to = b"money_resolve"
            answer = calls.post(web.url, key, calls.body(uuid7().hex, tokens=20))

    assert answer.status_code == 200
    assert proxy.lost.is_set()
    charge = calls.only_charge(alice)
    assert charge.status == "settled"
    assert wallet_of(alice).balance == 5_000_000_000 - charge.charge_balance
