"""What a socket takes from its client, which is hardly anything, and what it costs the others."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from accounts.models import User
from events.tests.sockets import close_code, next_frame, open_socket
from events.tests.streams import append, new_stream
from tests.personas import new_user
from tests.service import Web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")

MB = 1024 * 1024
# The code is lost where the client is still sending: what the server has not read resets the
# connection.
CUT_OFF = (4429, 1006)


@contextmanager
def bob_is_served(web: Web) -> Iterator[None]:
    """Before, and quickly after."""
    bob = new_user("bob")
    stream_id = new_stream(bob)
    with open_socket(web, bob, stream_id) as socket:
        yield
        with Stopwatch() as watch:
            append(stream_id, "hello")
            assert "hello" in next_frame(socket)
        assert watch.seconds < 1


@contextmanager
def at_most(web: Web, *, growth: int) -> Iterator[None]:
    """The process grows by no more than so many bytes meanwhile."""
    process = psutil.Process(web.process.pid)
    before = process.memory_info().rss
    yield
    assert process.memory_info().rss - before < growth


def cpu_seconds(web: Web) -> float:
    times = psutil.Process(web.process.pid).cpu_times()
    return float(times.user + times.system)


@pytest.fixture
def alice() -> User:
    return new_user("alice")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("x" * 4097, 1009),
        ("x" * MB, 1009),
        (b"\x00" * MB, 1009),
        (b"bytes", 1003),
        (b"", 1003),
    ],
    ids=["5 kB", "1 MB", "1 MB of bytes", "bytes", "no bytes"],
)
def test_long_messages_and_bytes_end_the_socket(
    web: Web, alice: User, message: str | bytes, code: int
) -> None:
    with bob_is_served(web), open_socket(web, alice, new_stream(alice)) as socket:
        with suppress(ConnectionClosed):
            socket.send(message)
        assert close_code(socket) == code


def test_a_message_in_many_fragments_is_no_way_around(web: Web, alice: User) -> None:
    stream_id = new_stream(alice)
    with bob_is_served(web), at_most(web, growth=8 * MB), open_socket(web, alice, stream_id) as own:
        with suppress(ConnectionClosed):
            own.send("x" for _ in range(100_000))
        assert close_code(own) in CUT_OFF


def test_50_messages_in_10_seconds_are_taken_and_more_are_not(web: Web, alice: User) -> None:
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        for _ in range(50):
            socket.send("x")
        append(stream_id, "hello")
        assert "hello" in next_frame(socket)
        socket.send("x")
        assert close_code(socket) == 4429


@pytest.mark.parametrize("opcode", [Opcode.TEXT, Opcode.PING, Opcode.PONG])
def test_floods_of_frames_are_cheap_and_end_the_socket(
    web: Web, alice: User, opcode: Opcode
) -> None:
    frame = Frame(opcode, b"x").serialize(mask=True)
    with bob_is_served(web), at_most(web, growth=8 * MB):
        used = cpu_seconds(web)
        with open_socket(web, alice, new_stream(alice)) as socket:
            with suppress(OSError):
                for _ in range(10):
                    socket.socket.sendall(frame * 60_000)
            assert close_code(socket) in CUT_OFF
        assert cpu_seconds(web) - used < 0.2


def test_who_says_nothing_for_ever_costs_nothing(quick_web: Web, alice: User) -> None:
    stream_id = new_stream(alice)
    with open_socket(quick_web, alice, stream_id) as socket:
        time.sleep(3)
        append(stream_id, "hello")
        assert "hello" in next_frame(socket)


@pytest.mark.parametrize(
    "garbage", [b"\xff" * 64, b"\x00" * 64, b"GET / HTTP/1.1\r\n\r\n", b"\x81\x05hello"]
)
def test_what_is_no_frame_ends_the_socket(web: Web, alice: User, garbage: bytes) -> None:
    with bob_is_served(web), open_socket(web, alice, new_stream(alice)) as socket:
        socket.socket.sendall(garbage)
        assert close_code(socket) in (1002, 1007, 1009)


def test_text_that_is_no_utf_8_ends_the_socket(web: Web, alice: User) -> None:
    with bob_is_served(web), open_socket(web, alice, new_stream(alice)) as socket:
        socket.socket.sendall(Frame(Opcode.TEXT, b"\xff").serialize(mask=True))
        assert close_code(socket) == 1007
