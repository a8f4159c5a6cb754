"""`manage.py runserver` (daphne) serves what uvicorn serves, and drains as it does."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from accounts.models import User
from common.ids import uuid7
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import LOOPBACK, answers, free_port
from devserver.processes import Process
from devserver.service import Service
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.drill_acts_of_peers import FRAMES, HTTP_ACTS, do, handshake, once_open, send
from tests.personas import PASSWORD, new_key, new_user
from tests.service import Web, database_url
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def runserver(simulator: RunningSimulator, **environment: str) -> AbstractContextManager[Web]:
    """Until the block ends, without the reloader."""
    port = free_port()
    where = f"{LOOPBACK}:{port}"
    command = ("runserver", "--noreload", "--nostatic", where)
    return _running(port, (str(ROOT / "manage.py"), *command), simulator, environment)


def daphne(
    simulator: RunningSimulator, log: Path, **environment: str
) -> AbstractContextManager[Web]:
    """The program itself, with what it prints in a file, until the block ends."""
    port = free_port()
    command = ("-m", "daphne", "-b", LOOPBACK, "-p", str(port), "config.asgi:application")
    outside = {"DJANGO_SETTINGS_MODULE": "config.settings.test", **environment}
    return _running(port, command, simulator, outside, log)


@contextmanager
def _running(
    port: int,
    arguments: tuple[str, ...],
    simulator: RunningSimulator,
    environment: dict[str, str],
    log: Path | None = None,
) -> Iterator[Web]:
    server = Process(
        Service(
            name="daphne",
            command=(sys.executable, *arguments),
            env={
                "PYTHONPATH": PYTHONPATH,
                "DJANGO_SETTINGS_MODULE": "config.settings.dev",
                "API_KEY_PEPPER": "test-only-pepper",
                "DATABASE_URL": database_url(),
                "REDIS_URL": os.environ["REDIS_URL"],
                "SIMULATOR_URL": simulator.url,
                **environment,
            },
            is_ready=lambda: answers(port, "/v1/models"),
        ),
        log=log,
    )
    try:
        server.wait_until_ready(timeout=30)
        yield Web(port, server)
    finally:
        server.stop()


@pytest.mark.parametrize("makes_up_events", [True])
def test_runserver_serves_both_interfaces_and_sockets(simulator: RunningSimulator) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    with runserver(simulator) as server:
        streamed = calls.post(server.url, key, calls.body(uuid7().hex, stream=True, tokens=5))
        me = httpx.get(f"{server.url}/api/auth/me")
        bob = {"email": f"bob-{uuid7().hex}@example.com", "password": PASSWORD}
        signed_up = httpx.post(f"{server.url}/api/auth/signup", json=bob)
        token = signed_up.json()["access_token"]
        stream_id = new_stream(User.objects.get(email=bob["email"]))
        sockets = f"{server.url.replace('http', 'ws')}/api/council/ws"
        with connect(f"{sockets}/{stream_id}?token={token}") as socket:
            append(stream_id, "hello")
            delivered = json.loads(socket.recv(10))
        with pytest.raises(InvalidStatus), connect(f"{sockets}/a/b"):
            pass

    assert streamed.text.endswith("data: [DONE]\n\n")
    assert me.status_code == 401
    assert me.json()["detail"]
    assert delivered["data"] == {"value": "hello"}


@pytest.mark.parametrize("drain_seconds", [30, 1])
def test_runserver_drains_its_calls_before_it_ends(
    drain_seconds: int, simulator: RunningSimulator
) -> None:
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    with (
        runserver(simulator, DRAIN_SECONDS=str(drain_seconds)) as server,
        ThreadPoolExecutor(1) as thread,
    ):
        request = calls.body(marker, stream=True, tokens=45, delay_ms=50)
        stream = thread.submit(calls.post, server.url, key, request)
        calls.wait_for(lambda: simulator.calls(marker))
        os.kill(server.process.pid, signal.SIGTERM)
        answer = stream.result(timeout=20)
        assert server.process.wait_stopped()

    charge = calls.only_charge(alice)
    assert answer.text.endswith("data: [DONE]\n\n")
    assert charge.status == "settled"
    is_whole = drain_seconds == 30
    assert ('"finish_reason":"stop"' in answer.text) == is_whole
    assert ('"code":"service_unavailable"' in answer.text) != is_whole
    assert (charge.tokens_out == 45) == is_whole
    assert answer.text.count('"content":" ') <= charge.tokens_out
    assert not Lease.objects.filter(pk=charge.owner_id).exists()


def test_daphne_itself_drains_and_says_what_it_does_not_do(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    """It goes on listening, and what it takes is refused."""
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    log = tmp_path / "daphne.log"
    with daphne(simulator, log) as server, ThreadPoolExecutor(1) as thread:
        request = calls.body(marker, stream=True, tokens=45, delay_ms=50)
        stream = thread.submit(calls.post, server.url, key, request)
        calls.wait_for(lambda: simulator.calls(marker))
        os.kill(server.process.pid, signal.SIGTERM)
        calls.wait_for(lambda: httpx.get(f"{server.url}/readyz").status_code == 503)
        late = calls.post(server.url, key, calls.body(uuid7().hex))
        answer = stream.result(timeout=20)
        assert server.process.wait_stopped()

    assert late.status_code == 503
    assert '"finish_reason":"stop"' in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")
    assert log.read_text().count("server.without_lifespan") == 1


def test_daphne_writes_no_error_for_what_a_peer_does_to_its_connection(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    """It does not let the application close a socket with a code below 3000, as for frames that are
    too long or no text: it is no server for production."""
    log = tmp_path / "daphne.log"
    closed_by_us = {"a frame of too many bytes", "bytes"}
    with daphne(simulator, log, LOG_JSON="1") as server:
        for act in HTTP_ACTS.values():
            do(server.port, act)
        for name in FRAMES.keys() - closed_by_us:
            do(server.port, send(handshake(server) + FRAMES[name]))
            do(server.port, once_open(handshake(server), FRAMES[name]))
        assert httpx.get(f"{server.url}/v1/models").status_code == 200
    lines = [json.loads(line) for line in log.read_text().splitlines() if line[0] == "{"]
    events = {line["event"] for line in lines if line["level"] not in ("debug", "info")}
    assert events <= {"server.without_lifespan"}
    assert "Traceback" not in log.read_text()
