"""SIGTERM for a worker: what ends in time ends well, and the rest is settled as far as it came."""

import pytest

from ai.providers.token_estimate import estimate_text
from billing.tests.bank import wallet_of
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.worker import running_worker
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def test_it_ends_short_calls_and_settles_long_ones_for_what_they_produced(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator, DRAIN_SECONDS="3") as worker:
        short = Council(customer("alice"), tokens=30, delay_ms=50)
        long = Council(customer("bob"), tokens=500, delay_ms=50)
        calls.wait_for(lambda: short.streamed_text() and long.streamed_text())
        worker.ask_to_stop()
        assert worker.process.wait_stopped()
        late = Council(customer("charlie"), tokens=3)

    assert (short.ending, short.charge.status) == (("completed", None), "settled")
    assert short.charge.tokens_out == 30
    assert (long.ending, long.charge.status) == (("failed", "service_unavailable"), "settled")
    assert 0 < long.charge.tokens_out < 500
    assert long.generation.content == long.streamed_text()
    assert long.charge.tokens_out == estimate_text(long.streamed_text())
    assert not Lease.objects.filter(pk=short.charge.owner_id).exists()
    assert [wallet_of(council.owner).held for council in (short, long)] == [0, 0]
    assert late.generation.status == "queued"
