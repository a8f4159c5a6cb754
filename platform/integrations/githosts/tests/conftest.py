"""A repository at each of the simulated hosts."""

import pytest

from integrations.githosts.tests.hosted import Hosted
from integrations.githosts.types import HostKind
from simulator.process import RunningSimulator


@pytest.fixture(params=list(HostKind))
def hosted(request: pytest.FixtureRequest, simulator: RunningSimulator) -> Hosted:
    return Hosted.create(simulator, HostKind(request.param))
