"""A task of the benchmark (`tools/bench/quality`), from its goal to the judgement."""

from pathlib import Path

import httpx
import pytest

from bench.quality.conditions import CONDITIONS
from bench.quality.confinement import why_not
from bench.quality.doing import Ordered, carry_out
from bench.quality.material import tasks
from bench.quality.person import Person
from projects.tests.conftest import NewPrincipal
from simulator.process import RunningSimulator
from tests.service import Web

OBEDIENT = CONDITIONS[0]


@pytest.mark.parametrize("name", ["report", "two_files"])
def test_obedient_authors_solve_a_task(
    name: str, principal: NewPrincipal, web: Web, simulator: RunningSimulator, tmp_path: Path
) -> None:
    """The facts of uploads have to reach three authors, and by them the final text. What a README
    says has to reach the planner, the first author, and by the result of that the second one; the
    judge runs the code that comes out, where it can be confined."""
    [task] = [each for each in tasks() if each.name == name]
    order = Ordered(task, OBEDIENT, number=0, seed=1, confined=not why_not(tmp_path))
    headers = {"Authorization": f"Bearer {principal().token}"}

    with httpx.Client(base_url=web.url, headers=headers, timeout=30) as http:
        done = carry_out(order, Person(http), simulator.githost)

    assert (done.status, done.notes) == ("completed", [])
    assert not done.faults
