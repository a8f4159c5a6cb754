"""docs/operations/deploy.md: the connections of all processes."""

import pytest

from simulator.process import RunningSimulator
from tests.operations.blocks import attempt, run
from tests.service import environment_of_a_process

pytestmark = pytest.mark.usefixtures("committed")


def test_the_connections_of_all_processes_are_added_up(simulator: RunningSimulator) -> None:
    said = run("deploy.md#connections", environment_of_a_process(simulator))
    assert "The processes open at most" in said


def test_more_connections_than_postgresql_has_are_refused(simulator: RunningSimulator) -> None:
    many = environment_of_a_process(simulator) | {"WEB_PROCESSES": "1000"}
    refused = attempt("deploy.md#connections", many)
    assert refused.returncode == 1
    assert "PostgreSQL has" in refused.stdout
