"""Fifty calls at once through two web processes: no cap and no balance is overrun."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command

from accounts.models import User
from billing.models import Charge, KeyMonth, LedgerEntry
from billing.services import balance
from billing.tests.bank import wallet_of
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import Web, running_web

pytestmark = pytest.mark.usefixtures("committed")

CALLS = 50


def test_fifty_calls_near_a_keys_cap_overshoot_it_by_at_most_one(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice", plan="max", balance_usd=50)
    _, probe_key = new_key(alice)
    request = calls.body(uuid7().hex, tokens=20, ttft_ms=30)
    calls.post(web.url, probe_key, request)
    one_call = Charge.objects.get(account=alice).charge_balance
    cap = one_call * 10
    key, raw = new_key(alice, cap=cap)

    answers = _fifty_calls(web, simulator, raw, request)

    billed = KeyMonth.objects.get(api_key=key).billed
    assert billed < cap + one_call
    assert set(answers) <= {200, 402}
    assert billed == answers[200] * one_call
    call_command("reconcile")


def test_a_wallet_that_covers_k_calls_reaches_the_provider_k_times(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, raw = new_key(alice)
    marker = uuid7().hex
    # They all run at the same time, so what one of them gives back comes too late for the others.
    request = calls.body(marker, tokens=50, ttft_ms=3000)
    calls.post(web.url, raw, request)
    hold = 2 * Charge.objects.get(account=alice).worst_cost
    _leave(alice, 7 * hold)

    answers = _fifty_calls(web, simulator, raw, request)

    assert answers == {200: 7, 402: CALLS - 7}
    assert len(simulator.calls(marker)) == 1 + 7
    assert wallet_of(alice).held == 0
    call_command("reconcile")


def _fifty_calls(
    web: Web, simulator: RunningSimulator, key: str, request: dict[str, object]
) -> Counter[int]:
    with running_web(simulator) as second, ThreadPoolExecutor(CALLS) as threads:
        urls = [web.url, second.url] * (CALLS // 2)
        answers = threads.map(lambda url: calls.post(url, key, request), urls)
        return Counter(answer.status_code for answer in answers)


def _leave(account: User, nusd: int) -> None:
    """Bring the balance to exactly so much."""
    now = LedgerEntry.objects.filter(account=account).latest("seq").balance_after
    balance.adjust(operation_id=uuid7(), account=account, delta=nusd - now, reason="test")
