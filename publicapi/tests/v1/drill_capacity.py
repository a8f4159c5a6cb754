"""A process with as many calls as it can carry."""

import socket
from contextlib import ExitStack, suppress

import psutil
import pytest

from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import new_customer
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.service import running_web


@pytest.mark.usefixtures("committed")
def test_over_capacity_a_call_is_refused_before_it_costs_anything(
    simulator: RunningSimulator,
) -> None:
    with (
        running_web(simulator, MAX_OPEN_CALLS="1") as web,
        wire.client(web.url) as http,
    ):
        alice = new_customer(http, web, simulator)
        bob = new_customer(http, web, simulator, name="bob")
        running = alice.body(stream=True, steer={"tokens": 3, "delay_ms": 200})
        with http.stream(
            "POST", "/v1/chat/completions", json=running, headers=alice.headers
        ) as stream:
            lines = stream.iter_lines()
            next(lines)
            response = bob.chat()
            list(lines)

        error = refusal(response, 503, "service_unavailable")
        assert "Nothing was billed" in error["message"]
        assert "x-should-retry" not in response.headers
        assert (bob.charges(), bob.provider_calls()) == ([], [])
        assert bob.chat().status_code == 200


@pytest.mark.usefixtures("committed")
def test_bodies_that_never_end_do_not_fill_the_memory(simulator: RunningSimulator) -> None:
    """Twenty of nineteen megabytes each: not all of them find a place, and others do as before."""
    part, length = b"a" * 1_000_000, 19_900_000
    with running_web(simulator) as web, wire.client(web.url) as http, ExitStack() as senders:
        alice = new_customer(http, web, simulator)
        head = (
            f"POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n"
            f"Authorization: Bearer {alice.raw_key}\r\n\r\n"
        )
        refused = 0
        for _ in range(20):
            sender = senders.enter_context(socket.create_connection(("127.0.0.1", web.port)))
            sender.sendall(head.encode())
            with suppress(ConnectionError):
                for _ in range(19):
                    sender.sendall(part)
            sender.setblocking(False)
            with suppress(BlockingIOError, ConnectionError):
                refused += sender.recv(12) == b"HTTP/1.1 503"
        assert alice.chat().status_code == 200
        assert psutil.Process(web.process.pid).memory_info().rss < 700_000_000
        senders.close()
    assert refused >= 3
