"""Eighty rude connections of eight kinds, and honest users beside them: nobody is refused.

`make bench ARGS="--only rude"` does it with a thousand, and looks at the times too, which mean
nothing beside other tests.
"""

import pytest

from bench import rude
from bench.rude_clients import FRAMES, KINDS
from bench.servers import Server
from bench.sessions import open_councils
from edge.tests.client import new_address
from simulator.process import RunningSimulator
from tests.service import running_web

HONEST = new_address()


@pytest.mark.usefixtures("committed")
def test_nobody_honest_is_refused_beside_rude_connections(simulator: RunningSimulator) -> None:
    sockets = [each.path for each in open_councils(1)]
    honest = rude.honest_user(HONEST)
    with running_web(simulator, application="tests.impatient:application") as web:
        server = Server(web.process.pid, web.port)
        outcome = rude.measure(
            server, honest, sockets, connections=80, warm_up=1, before=1, during=5, after=2
        )
    assert {kind for kind, opened in outcome.opened.items() if opened >= 10} == {*KINDS, FRAMES}
    assert outcome.before.refused == {}
    assert outcome.during.refused == {}
    assert outcome.memory_peak - outcome.memory_before < 64 * 1024 * 1024
    assert all(outcome.during.seconds[kind] for kind in outcome.before.seconds)
