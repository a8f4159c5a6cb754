"""Eighty abusive connections of eight kinds, and normal users beside them: no normal request is
refused.

`make bench ARGS="--only abuse"` runs a thousand, and measures latencies too, which are meaningless
beside other tests.
"""

import pytest

from bench import abuse
from bench.abusive_clients import FRAMES, KINDS
from bench.servers import Server
from bench.sessions import open_councils
from server.tests.client import new_address
from simulator.process import RunningSimulator
from tests.service import running_web

ADDRESS = new_address()


@pytest.mark.usefixtures("committed")
def test_no_normal_request_is_refused_beside_rude_connections(simulator: RunningSimulator) -> None:
    sockets = [each.path for each in open_councils(1)]
    user = abuse.normal_user(ADDRESS)
    with running_web(simulator, application="tests.impatient:application") as web:
        server = Server(web.process.pid, web.port)
        outcome = abuse.measure(
            server, user, sockets, connections=80, warm_up=1, before=1, during=5, after=2
        )
    assert {kind for kind, opened in outcome.opened.items() if opened >= 10} == {*KINDS, FRAMES}
    assert outcome.before.refused == {}
    assert outcome.during.refused == {}
    assert outcome.memory_peak - outcome.memory_before < 64 * 1024 * 1024
    assert all(outcome.during.seconds[kind] for kind in outcome.before.seconds)
