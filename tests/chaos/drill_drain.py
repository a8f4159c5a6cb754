"""SIGTERM: no new calls, running ones end, and what is left is settled before the process goes."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from billing.models import Charge
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import running_web
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def test_a_stream_that_ends_within_the_drain_time_is_served_to_its_end(
    simulator: RunningSimulator,
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex

    with running_web(simulator) as web, ThreadPoolExecutor(1) as thread:
        request = calls.body(marker, stream=True, tokens=40, delay_ms=50)
        stream = thread.submit(calls.post, web.url, key, request)
        calls.wait_for(lambda: simulator.calls(marker))
        os.kill(web.process.pid, signal.SIGTERM)
        answer = stream.result(timeout=20)
        assert web.process.wait_stopped()

    assert '"finish_reason":"stop"' in answer.text
    charge = calls.only_charge(alice)
    assert (charge.status, charge.tokens_out) == ("settled", 40)
    assert not Lease.objects.filter(pk=charge.owner_id).exists()


def test_a_stream_that_outlasts_the_drain_time_is_settled_for_what_it_produced(
    simulator: RunningSimulator,
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex

    with running_web(simulator, DRAIN_SECONDS="1") as web, ThreadPoolExecutor(1) as thread:
        request = calls.body(marker, stream=True, max_tokens=500, tokens=500, delay_ms=50)
        stream = thread.submit(calls.post, web.url, key, request)
        calls.wait_for(lambda: simulator.calls(marker))
        os.kill(web.process.pid, signal.SIGTERM)
        answer = stream.result(timeout=20)
        assert web.process.wait_stopped()

    assert '"code":"service_unavailable"' in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")
    charge = calls.only_charge(alice)
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < 500
    assert answer.text.count('"content":" ') <= charge.tokens_out


def test_a_call_whose_client_has_gone_is_drained_too(simulator: RunningSimulator) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex

    with running_web(simulator) as web:
        request = calls.body(marker, stream=True, tokens=40, delay_ms=50)
        calls.read_chunks(web.url, key, request, count=3)
        os.kill(web.process.pid, signal.SIGTERM)
        assert web.process.wait_stopped()

    charge = Charge.objects.get(account=alice)
    assert (charge.status, charge.tokens_out) == ("settled", 40)
