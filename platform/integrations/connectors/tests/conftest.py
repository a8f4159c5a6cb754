"""People who connect accounts at the simulated authorization servers."""

import pytest
from pytest_django import Settings

from devserver.configuration import simulated_connectors
from integrations.connectors.providers import from_environ
from integrations.connectors.tests.owner import Owner
from simulator.process import RunningSimulator


@pytest.fixture(autouse=True)
def configured(settings: Settings, simulator: RunningSimulator) -> None:
    settings.CONNECTORS = from_environ(simulated_connectors(simulator.url))


@pytest.fixture
def alice(committed: None, simulator: RunningSimulator) -> Owner:
    return Owner("alice", simulator)


@pytest.fixture
def bob(committed: None, simulator: RunningSimulator) -> Owner:
    return Owner("bob", simulator)
