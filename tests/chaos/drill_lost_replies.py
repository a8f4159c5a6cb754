"""The reply to a money verb is lost on its way: nothing is billed twice, nothing stays locked."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from accounts.models import User
from billing.models import Charge
from billing.tests.bank import run, wallet_of
from common.ids import uuid7
from common.money import NUSD_PER_USD
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.proxy import LossyProxy
from tests.personas import new_key, new_user
from tests.service import Web, database_url, running_web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def proxy() -> Iterator[LossyProxy]:
    """Stands between the web process and the database."""
    with LossyProxy(_database_port()) as proxy:
        yield proxy


@pytest.fixture
def web(simulator: RunningSimulator, proxy: LossyProxy) -> Iterator[Web]:
    through_proxy = database_url().replace(f":{_database_port()}/", f":{proxy.port}/")
    with running_web(simulator, DATABASE_URL=through_proxy) as web:
        yield web


@pytest.mark.parametrize("verb", [b"money_hold", b"money_resolve"])
def test_a_verb_whose_reply_is_lost_is_repeated_and_counts_once(
    web: Web, proxy: LossyProxy, simulator: RunningSimulator, verb: bytes
) -> None:
    alice, key = _customer()
    marker = uuid7().hex
    calls.post(web.url, key, calls.body(uuid7().hex))
    proxy.lose_reply_to = verb

    answer = calls.post(web.url, key, calls.body(marker, tokens=20))

    assert proxy.lost.is_set()
    assert answer.status_code == 200
    assert len(simulator.calls(marker)) == 1
    charges = Charge.objects.filter(account=alice)
    assert [charge.status for charge in charges] == ["settled", "settled"]
    paid = sum(charge.charge_balance for charge in charges)
    assert wallet_of(alice).balance == 5 * NUSD_PER_USD - paid


def test_a_hold_that_nobody_hears_of_is_free_again_within_a_minute(
    web: Web, proxy: LossyProxy, simulator: RunningSimulator
) -> None:
    """The caller is told 503. When the database is back, the process finds a charge that
    it holds and does not know, and releases it."""
    alice, key = _customer()
    marker = uuid7().hex
    proxy.then_refuse = True
    proxy.lose_reply_to = b"money_hold"

    answer = calls.post(web.url, key, calls.body(marker))

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "service_unavailable"
    assert calls.only_charge(alice).status == "held"
    proxy.then_refuse = False
    # As if it had been held for the 15 seconds after which the process looks.
    run(
        "UPDATE billing_charge SET admitted_at = admitted_at - interval '16 s'"
        " WHERE account_id = %s RETURNING 1",
        alice.pk,
    )
    calls.wait_for(
        lambda: Charge.objects.filter(account=alice, status="released").exists(), seconds=45
    )
    assert simulator.calls(marker) == []
    assert wallet_of(alice).held == 0


def test_a_named_hold_that_nobody_hears_of_is_released_with_its_reason(
    web: Web, proxy: LossyProxy
) -> None:
    alice, key = _customer()
    proxy.then_refuse = True
    proxy.lose_reply_to = b"money_hold_idempotently"

    answer = calls.post(web.url, key, calls.body(uuid7().hex), named=uuid7().hex)

    assert answer.json()["error"]["code"] == "service_unavailable"
    proxy.then_refuse = False
    calls.wait_for(lambda: calls.only_charge(alice).status == "released", seconds=20)
    assert (calls.only_charge(alice).failure or {})["code"] == "service_unavailable"


def test_a_frozen_database_keeps_nobody_for_long(web: Web, proxy: LossyProxy) -> None:
    _, key = _customer()
    assert calls.post(web.url, key, calls.body(uuid7().hex)).status_code == 200
    proxy.flowing.clear()

    asked_at = time.monotonic()
    answer = calls.post(web.url, key, calls.body(uuid7().hex))
    waited = time.monotonic() - asked_at

    assert answer.status_code == 503
    assert waited < 15
    proxy.flowing.set()
    assert calls.post(web.url, key, calls.body(uuid7().hex)).status_code == 200


def test_a_stream_that_ends_while_the_database_is_frozen_is_answered_and_then_settled(
    web: Web, proxy: LossyProxy, simulator: RunningSimulator
) -> None:
    alice, key = _customer()
    marker = uuid7().hex
    request = calls.body(marker, stream=True, tokens=20, delay_ms=50)

    with ThreadPoolExecutor(1) as thread:
        stream = thread.submit(calls.post, web.url, key, request)
        calls.wait_for(lambda: simulator.calls(marker))
        proxy.flowing.clear()
        with Stopwatch() as watch:
            answer = stream.result(timeout=20)

    assert answer.text.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"stop"' in answer.text
    assert watch.seconds < 5  # a second for the stream, two until the time-out
    assert calls.only_charge(alice).status == "held"
    proxy.flowing.set()
    calls.wait_for(lambda: calls.only_charge(alice).status == "settled", seconds=20)
    assert calls.only_charge(alice).tokens_out == 20


def test_many_calls_during_an_outage_are_all_refused_soon(web: Web, proxy: LossyProxy) -> None:
    _, key = _customer()
    assert calls.post(web.url, key, calls.body(uuid7().hex)).status_code == 200
    proxy.flowing.clear()

    asked_at = time.monotonic()
    with ThreadPoolExecutor(100) as threads:
        answers = list(
            threads.map(lambda _: calls.post(web.url, key, calls.body(uuid7().hex)), range(100))
        )
    waited = time.monotonic() - asked_at

    assert {answer.status_code for answer in answers} == {503}
    assert waited < 15
    proxy.flowing.set()


def _customer() -> tuple[User, str]:
    alice = new_user("alice", plan="max", balance_usd=5)
    return alice, new_key(alice)[1]


def _database_port() -> int:
    port = urlsplit(database_url()).port
    assert port
    return port
