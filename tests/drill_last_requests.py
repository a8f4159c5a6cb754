"""What a web process still does after SIGTERM, so that no request is lost on its way."""

import asyncio
import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from common.ids import uuid7
from devserver.ports import LOOPBACK
from server.graceful_accept import ignore_new_connections
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.personas import new_key, new_user
from tests.service import running_web

committed = pytest.mark.usefixtures("committed")


def complete(http: httpx.Client, key: str, tokens: int) -> httpx.Response:
    request = calls.body(uuid7().hex, tokens=tokens)
    return http.post(
        "/v1/chat/completions", json=request, headers={"Authorization": f"Bearer {key}"}
    )


@committed
def test_a_kept_connection_may_bring_one_more_call(simulator: RunningSimulator) -> None:
    """A proxy may have sent it before it saw that the process ends."""
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    with running_web(simulator) as web, httpx.Client(base_url=web.url, timeout=20) as http:
        before = complete(http, key, tokens=3)
        os.kill(web.process.pid, signal.SIGTERM)
        calls.wait_for(lambda: not listens(web.port))
        after = complete(http, key, tokens=3)
        with pytest.raises(httpx.ConnectError):
            complete(http, key, tokens=3)
        assert web.process.wait_stopped()

    assert (before.status_code, before.headers.get("connection")) == (200, None)
    assert (after.status_code, after.headers["connection"]) == (200, "close")


@committed
def test_a_kept_connection_that_brings_nothing_is_closed(simulator: RunningSimulator) -> None:
    with running_web(simulator) as web, socket.create_connection((LOOPBACK, web.port)) as idle:
        idle.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        idle.settimeout(20)
        answered = b""
        while not answered.endswith(b'{"status":"alive"}'):
            answered += idle.recv(4096)
        assert answered.startswith(b"HTTP/1.1 200")
        os.kill(web.process.pid, signal.SIGTERM)
        assert idle.recv(4096) == b""
        assert web.process.wait_stopped()


@committed
def test_during_the_notice_it_takes_connections_and_says_that_it_is_not_ready(
    simulator: RunningSimulator,
) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    with running_web(simulator, NOTICE_SECONDS="3") as web:
        os.kill(web.process.pid, signal.SIGTERM)
        calls.wait_for(lambda: httpx.get(f"{web.url}/readyz").status_code == 503)
        answer = calls.post(web.url, key, calls.body(uuid7().hex, tokens=3))
        assert web.process.wait_stopped()

    assert answer.status_code == 200


def listens(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has filters of sockets")
async def test_who_waits_to_be_accepted_is_and_who_comes_later_is_refused() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, LOOPBACK, 0)
    address = server.sockets[0].getsockname()
    # The loop stands still meanwhile, and accepts nobody.
    waiting = [socket.create_connection(address) for _ in range(5)]
    with ThreadPoolExecutor(1) as thread:
        closing = asyncio.create_task(ignore_new_connections([server]))
        await asyncio.sleep(0)
        late = thread.submit(socket.create_connection, address, 10)
        await closing
        server.close()
        await asyncio.sleep(0.2)
        for connection in waiting:
            with connection:
                assert connection.recv(100) == b"welcome"
        with pytest.raises(ConnectionRefusedError):
            await asyncio.wrap_future(late)
