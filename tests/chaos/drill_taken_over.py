"""Somebody else ends a running call's charge: the call stops, and says so."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from billing.models import Charge
from billing.tests.bank import expire
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import Web

pytestmark = pytest.mark.usefixtures("committed")


def test_a_stream_whose_charge_was_expired_stops_reading_and_ends_with_an_error(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    request = calls.body(marker, stream=True, max_tokens=600, tokens=600, delay_ms=20)

    with ThreadPoolExecutor(1) as thread:
        stream = thread.submit(calls.post, web.url, key, request)
        calls.wait_for(
            lambda: Charge.objects.filter(account=alice, units__tokens_out__gt=0).exists()
        )
        expire(calls.only_charge(alice).pk)
        answer = stream.result(timeout=10)

    assert '"code":"service_unavailable"' in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")
    assert calls.wait_for(lambda: simulator.calls(marker)[0]["outcome"] == "client_gone")
    charge = calls.only_charge(alice)
    assert charge.status == "expired"
    assert charge.tokens_out < 600


def test_a_plain_call_whose_charge_was_released_is_not_given_away(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)

    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(calls.post, web.url, key, calls.body(uuid7().hex, ttft_ms=1500))
        calls.wait_for(lambda: Charge.objects.filter(account=alice).exists())
        expire(calls.only_charge(alice).pk)
        answer = call.result(timeout=10)

    assert answer.status_code == 503
    assert calls.only_charge(alice).status == "released"
