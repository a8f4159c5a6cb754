"""kill -9 of a web process in mid-stream: its customers pay what was streamed, once."""

import threading

import httpx
import pytest
from django.core.management import call_command

from billing.models import Charge, LedgerEntry
from billing.services import sweeps
from billing.tests.bank import kill, wallet_of
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import running_web

pytestmark = pytest.mark.usefixtures("committed")


def test_the_stream_is_billed_between_its_last_checkpoint_and_what_was_emitted(
    simulator: RunningSimulator,
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    request = calls.body(marker, stream=True, max_tokens=400, tokens=400, delay_ms=20)

    with running_web(simulator) as doomed:
        reader = threading.Thread(target=_read_until_cut, args=(doomed.url, key, request))
        reader.start()
        calls.wait_for(
            lambda: Charge.objects.filter(account=alice, units__tokens_out__gt=0).exists()
        )
        doomed.kill()
        reader.join()
    checkpoint = calls.only_charge(alice)
    assert checkpoint.status == "held"
    # As if the time had passed in which nobody renewed its lease.
    kill(checkpoint.owner_id)

    sweeps.expire_lapsed_charges()
    sweeps.expire_lapsed_charges()

    charge = calls.only_charge(alice)
    assert charge.status == "expired"
    assert checkpoint.tokens_out <= charge.tokens_out <= calls.most_billed(simulator, marker)
    assert charge.cost > 0
    assert charge.charge_balance == 2 * charge.cost
    assert LedgerEntry.objects.filter(account=alice, kind="charge").count() == 1
    assert wallet_of(alice).held == 0
    call_command("reconcile")


def _read_until_cut(url: str, key: str, request: dict[str, object]) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        calls.read_chunks(url, key, request, count=400)
