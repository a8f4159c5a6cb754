"""A run whose provider is spared for a while."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from projects.tests.principal import Principal, new_principal, part
from simulator.process import RunningSimulator
from tests.short_circuits import running_with_short_circuits
from work.jobs.tests.queueing import wait_until

DOWN = {"fail": "before", "status": 503}
MODEL = "gpt-6-luna"


@pytest.fixture
def alice(
    committed: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path: Path,
) -> Iterator[Principal]:
    """With a web process and a worker whose circuits open soon."""
    with (
        running_with_short_circuits(simulator, tmp_path, CALLER_FAILURES="3") as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield new_principal(http, web, simulator)
        simulator.end_outages()


def test_a_step_waits_until_its_provider_is_back_where_no_other_may_make_it(
    alice: Principal,
) -> None:
    """Its tries fail until the circuit opens; the others wait, and none of them fails."""
    alice.simulator.begin_outage(MODEL, **DOWN)
    run = alice.start(
        *(part(key, model=MODEL) for key in "abcdefgh"),
        max_parallel=1,
        models=[MODEL],
        planner_model="claude-haiku-5-5",
    )

    def failed() -> int:
        shown = alice.do("GET", f"/sessions/{run['id']}")
        attempts = [attempt for each in shown["subtasks"] for attempt in each["attempts"]]
        return sum(each["status"] == "failed" for each in attempts)

    def is_waiting() -> bool:
        before = failed()
        time.sleep(3)
        return failed() == before >= 3

    wait_until(is_waiting, seconds=60)
    waited = failed()
    alice.simulator.end_outages()
    with alice.follow(run) as follower:
        pass
    ended = follower.pictures[-1]
    if ended["status"] == "paused":  # all tries of the first part were made before
        with alice.follow(run) as follower:
            alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
        ended = follower.pictures[-1]
    assert {each["status"] for each in ended["subtasks"]} == {"completed"}
    assert failed() == waited
    alice.check_money(ended)


def test_another_vendor_makes_a_step_soon_whose_provider_stays_away(alice: Principal) -> None:
    alice.simulator.begin_outage(MODEL, **DOWN)
    parts = [part(key, model=MODEL) for key in "ab"]
    run = alice.finished(*parts, max_parallel=1, planner_model="claude-haiku-5-5")
    assert run["status"] == "completed"
    assert {each["assigned_by"] for each in run["subtasks"]} == {"fallback"}
    alice.check_money(run)


def test_a_step_waits_while_its_user_is_refused_alone(alice: Principal) -> None:
    """The provider answers the probe: the failures are this user's own."""
    attempts, planned = 3, 1  # the call of the plan has the marker, too
    goal = alice.goal(
        *(part(key, model=MODEL) for key in "abcd"),
        work={**DOWN, "times": planned + 3 * attempts},
    )
    run = alice.finished(
        goal=goal, max_parallel=1, models=[MODEL], planner_model="claude-haiku-5-5"
    )
    first, *others = run["subtasks"]
    assert [each["status"] for each in first["attempts"]] == ["failed"] * 3
    assert {len(each["attempts"]) for each in others} == {1}
    assert (run["status"], run["pause_reason"]) == ("paused", "step_failed")
    alice.check_money(run)


def test_a_run_is_not_begun_while_its_planner_is_spared(alice: Principal) -> None:
    alice.simulator.begin_outage(MODEL, **DOWN)
    goal = alice.goal(part("a"))

    def refused() -> httpx.Response | None:
        time.sleep(0.5)  # what is accepted is a run more that waits
        answer = alice.send("POST", "/sessions", prompt=goal, planner_model=MODEL)
        return answer if answer.status_code == 503 else None

    answer = wait_until(refused, seconds=60)
    assert answer.json()["code"] == "provider_unavailable"
    assert int(answer.headers["retry-after"]) >= 1
    # What waits goes on when a probe is answered.
    alice.simulator.end_outages()
    wait_until(lambda: refused() is None, seconds=30)
