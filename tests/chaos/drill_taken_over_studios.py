"""A worker that stood still goes on with jobs of the studios which another one has taken over and
ended: what it brings counts for nothing."""

from collections.abc import Iterator

import httpx
import pytest

from ai.operations.types import State
from simulator.process import RunningSimulator
from tests.chaos.killing import sweep
from tests.chaos.studios import MODELS, SLOW, Ordered, Scene, wait_in_haste
from tests.service import Web
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(scope="module")
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


@pytest.mark.parametrize("state", [State.SUBMITTING, State.RUNNING, State.FETCHING])
def test_what_a_worker_brings_too_late_counts_for_nothing(
    http: httpx.Client, simulator: RunningSimulator, state: State
) -> None:
    is_lost = state is State.SUBMITTING
    with running_worker(simulator) as late:
        scene = Scene(http, simulator, late)
        ordered = scene.order(*(MODELS if is_lost else SLOW), ttft_ms=1200)
        wait_in_haste(ordered, lambda each: each.is_in_step(state) and bool(each.submissions))
        late.freeze()
        sweep()
        with running_worker(simulator):
            wait_in_haste(ordered, Ordered.has_ended)
        # It takes its steps to their ends before it stops.
        late.thaw()

    for each in ordered:
        each.check_end("failed" if is_lost else "completed", is_unreconciled=is_lost)
