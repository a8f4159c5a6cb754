"""The end of a web process: its sockets get what is committed, and their clients go elsewhere."""

import time
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed, InvalidMessage
from websockets.sync.client import connect

from events.tests.sockets import (
    TIMEOUT,
    close_code,
    next_frames,
    non_reading_client,
    open_socket,
    token_of,
    url_of,
)
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import running_web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")


def test_sockets_get_what_is_committed_and_then_an_end(simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with running_web(simulator) as web, ExitStack() as stack:
        sockets = [stack.enter_context(open_socket(web, alice, stream_id)) for _ in range(10)]
        last = append(stream_id, *range(300))
        web.process.ask_to_stop()
        with Stopwatch() as watch:
            for socket in sockets:
                assert f'"seq":{last},' in next_frames(socket, last)[-1]
                assert close_code(socket) == 1012
            assert web.process.wait_stopped()
        assert watch.seconds < 5


def test_a_process_that_ends_takes_no_sockets(simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    url = None
    stream_id = new_stream(alice)
    with running_web(simulator) as web:
        url = url_of(web, stream_id, token=token_of(alice))
        web.process.ask_to_stop()
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                with connect(url) as socket:
                    assert close_code(socket) == 1012
            except (OSError, ConnectionClosed, InvalidMessage):
                break
        assert web.process.wait_stopped()


def test_who_does_not_read_delays_the_end_only_a_little(simulator: RunningSimulator) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with running_web(simulator) as web, non_reading_client(web, alice, stream_id):
        for _ in range(30):
            append(stream_id, "x" * 300_000)
        web.process.ask_to_stop()
        with Stopwatch() as watch:
            assert web.process.wait_stopped()
        assert watch.seconds < 10
