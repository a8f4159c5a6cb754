"""A run whose provider is spared for a while."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from jobs.tests.queueing import wait_until
from projects.tests.principal import Principal, new_principal, part
from simulator.process import RunningSimulator
from tests.short_circuits import running_with_short_circuits

MIN_CALLS = 3
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
        running_with_short_circuits(simulator, tmp_path, min_calls=MIN_CALLS) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield new_principal(http, web, simulator)


def test_a_step_waits_until_its_provider_is_back(alice: Principal) -> None:
    """The first subtask fails; the circuit that it has opened fails no other."""
    planned = 1  # the call of the plan has the marker, too
    goal = alice.goal(
        part("a", model=MODEL),
        part("b", model=MODEL),
        work={**DOWN, "times": planned + MIN_CALLS},
    )
    run = alice.finished(goal=goal, max_parallel=1, planner_model="claude-haiku-5-5")
    assert [each["status"] for each in run["subtasks"]] == ["failed", "completed"]
    alice.check_money(run)


def test_a_run_is_not_begun_while_its_planner_is_spared(alice: Principal) -> None:
    goal = alice.goal(part("a"), plan=DOWN)

    def refused() -> httpx.Response | None:
        answer = alice.send("POST", "/sessions", prompt=goal, planner_model=MODEL)
        return answer if answer.status_code == 503 else None

    wait_until(lambda: refused() is not None, seconds=60)
    answer = refused()
    assert answer is not None
    assert answer.json()["code"] == "provider_unavailable"
    assert int(answer.headers["retry-after"]) >= 1
