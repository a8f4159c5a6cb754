"""Everything is started anew in the midst of jobs of the studios, and one worker after another is
killed: every job ends, each that is completed is billed once, and none is submitted twice."""

import random
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import httpx
import pytest

from devserver.ports import free_port
from simulator.process import RunningSimulator
from simulator.process import running as running_simulator
from tests.chaos.killing import sweep
from tests.chaos.studio_moments import STEPS, after_the_settlement, before_the_submission
from tests.chaos.studios import (
    MODELS,
    Ordered,
    dying_worker,
    hasten,
    kill_simulator,
    order,
    wait_for_an_end_of_each_kind,
    wait_in_haste,
)
from tests.service import Web
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")

SEED = 20_261_125
DEATHS = 5
IN_FLIGHT = 30


@pytest.fixture(scope="module")
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


def test_a_restart_of_everything_loses_no_job(http: httpx.Client) -> None:
    """The providers know nothing any more of what they were asked before: that ends unbilled."""
    port = f"--port={free_port()}"
    with running_simulator(port) as simulator, dying_worker(http, simulator) as scene:
        ended = after_the_settlement(scene)
        waiting = before_the_submission(scene)
        begun = [
            each
            for moment in STEPS
            if moment is not before_the_submission
            for each in moment(scene)
        ]
        scene.worker.freeze()
        waiting += scene.order(*MODELS)
        assert [len(each.submissions) for each in ended + begun] == [1] * len(ended + begun)
        assert [each.submissions for each in waiting] == [[]] * len(waiting)
        kill_simulator(simulator)
    sweep()

    with running_simulator(port) as simulator, running_worker(simulator):
        wait_in_haste(begun + waiting, Ordered.has_ended)
        for each in ended:
            each.check_end("completed", submissions=0)
        for each in begun:
            each.check_end("failed", is_unreconciled=True, submissions=0)
        for each in waiting:
            each.check_end("completed")


def test_thirty_jobs_in_flight_outlive_one_worker_after_another(
    http: httpx.Client, simulator: RunningSimulator
) -> None:
    chance = random.Random(SEED)  # noqa: S311 - moments that can be repeated
    kinds = cycle(MODELS)
    ordered: list[Ordered] = []
    lost: list[Ordered] = []
    left = 0
    for death in range(DEATHS):
        # However many a fast machine has ended meanwhile.
        for _ in range(IN_FLIGHT - sum(not each.has_ended() for each in ordered)):
            kind = next(kinds)
            ordered.append(order(http, simulator, kind, **at_random(chance, kind)))
        with dying_worker(http, simulator):
            if death == 0:
                wait_for_an_end_of_each_kind(ordered)
            hasten(ordered, seconds=chance.uniform(0.2, 1.6))
        sweep()
        lost += [each for each in ordered if each not in lost and each.is_lost()]
        left += sum(each.has_lost_its_worker() for each in ordered)

    with running_worker(simulator):
        wait_in_haste(ordered, Ordered.has_ended)

    for each in ordered:
        check_end(each, is_lost=each in lost)
    assert left > len(MODELS) * DEATHS
    assert {each.kind for each in ordered if each not in lost} == set(MODELS)


def at_random(chance: random.Random, kind: str) -> dict[str, Any]:
    """How long a job takes."""
    if kind == "image":
        return {"ttft_ms": chance.randrange(2000)}
    return {"ttft_ms": chance.randrange(300), "polls": chance.randrange(1, 10)}


def check_end(each: Ordered, *, is_lost: bool) -> None:
    """What nobody knows of was perhaps not even submitted."""
    if not is_lost:
        each.check_end("completed")
        return
    submissions = len(each.submissions)
    assert submissions <= 1
    each.check_end("failed", is_unreconciled=True, submissions=submissions)
