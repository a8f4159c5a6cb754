"""Clients that read slowly or not at all: they cost little memory, and nobody else notices."""

import socket as sockets
import time

import psutil
import pytest

from events.tests.sockets import next_frame, next_frames, non_reading_client, open_socket
from events.tests.streams import append, new_stream
from tests.personas import new_user
from tests.service import Web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")

MB = 1024 * 1024
STALLED_SECONDS = 15


def is_connected(web: Web, connection: sockets.socket) -> bool:
    """Does the server still keep its end?"""
    own = connection.getsockname()
    return any(end.raddr == own for end in psutil.Process(web.process.pid).net_connections())


def memory(web: Web) -> int:
    return int(psutil.Process(web.process.pid).memory_info().rss)


def test_who_reads_nothing_costs_little_and_is_cut_off(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with (
        open_socket(web, alice, stream_id) as reading,
        non_reading_client(web, alice, stream_id) as non_reading,
    ):
        append(stream_id, "warm-up")
        next_frame(reading)
        before = memory(web)
        for _ in range(60):
            with Stopwatch() as watch:
                append(stream_id, "x" * 500_000)
                assert len(next_frame(reading)) > 500_000
            assert watch.seconds < 2
        assert is_connected(web, non_reading)
        assert memory(web) - before < 10 * MB
        deadline = time.monotonic() + STALLED_SECONDS + 10
        while is_connected(web, non_reading):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        append(stream_id, "still here")
        assert "still here" in next_frame(reading)


def test_who_pauses_for_a_while_gets_everything_later(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as reading, open_socket(web, alice, stream_id) as late:
        for number in range(40):
            append(stream_id, f"{number}:" + "x" * 200_000)
            next_frame(reading)
        time.sleep(1)
        frames = next_frames(late, 40)
    assert [frame.split('"value":"')[1].split(":")[0] for frame in frames] == [
        str(number) for number in range(40)
    ]
