"""The port of the metrics, on a real socket."""

import socket
import time

import httpx
import pytest

from observability.metrics.server import port_of, serve

LOOPBACK = "127.0.0.1"


@pytest.fixture(scope="module")
def port() -> int:
    with socket.create_server((LOOPBACK, 0)) as free:
        port: int = free.getsockname()[1]
    serve(LOOPBACK, port)
    return port


def test_it_shows_metrics_and_nothing_else(port: int) -> None:
    url = f"http://{LOOPBACK}:{port}"
    answer = httpx.get(f"{url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert "process_resident_memory_bytes" in answer.text
    others = [httpx.get(url + path).status_code for path in ("/", "/v1/models", "/metrics/x")]
    assert others == [404, 404, 404]
    assert httpx.post(f"{url}/metrics").status_code == 501


def test_clients_that_send_nothing_keep_nobody_waiting(port: int) -> None:
    silent = [socket.create_connection((LOOPBACK, port)) for _ in range(50)]
    try:
        began = time.monotonic()
        assert httpx.get(f"http://{LOOPBACK}:{port}/metrics", timeout=5).status_code == 200
        assert time.monotonic() - began < 5
    finally:
        for connection in silent:
            connection.close()


def test_a_port_that_is_taken_is_named(port: int) -> None:
    with pytest.raises(OSError, match=rf"Metrics cannot be served on {LOOPBACK}, port {port} "):
        serve(LOOPBACK, port)


@pytest.mark.parametrize("text", ["0", "-1", "65536", "9100.5", "http", " 9100", "²"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="METRICS_PORT must be a number from 1 to 65535"):
        port_of(text)


def test_a_port_is_read_and_nothing_is_none() -> None:
    assert (port_of("9100"), port_of("")) == (9100, None)
