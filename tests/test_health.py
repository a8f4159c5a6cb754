"""`/livez` and `/readyz`: what a load balancer asks a web process, and what it is told
while a part is away."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from django.db import connection

from ai.catalog.models import AIModel
from ai.provider_health.switches import switch_provider
from common.ids import uuid7
from config.health import KEPT_SECONDS
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.proxy import DoorProxy, LossyProxy
from tests.own_redis import OwnRedis
from tests.personas import new_key, new_user
from tests.service import Web, database_url, running_web

ALL_WELL = dict.fromkeys(("process", "database", "migrations", "plans", "models", "redis"), "ok")


def ready(web: Web) -> tuple[int, dict[str, str]]:
    answer = httpx.get(f"{web.url}/readyz", timeout=10)
    return answer.status_code, answer.json()["checks"]


def wait_until_ready(web: Web) -> None:
    calls.wait_for(lambda: ready(web)[0] == 200)


def through(port: int) -> str:
    """The URL of the test's database behind a proxy."""
    real = connection.get_connection_params()["port"]
    return database_url().replace(f":{real}/", f":{port}/")


def postgres_port() -> int:
    return int(connection.get_connection_params()["port"])


def test_a_process_that_works_is_alive_and_ready(web: Web) -> None:
    alive = httpx.get(f"{web.url}/livez")
    assert (alive.status_code, alive.json()) == (200, {"status": "alive"})
    wait_until_ready(web)
    assert ready(web) == (200, ALL_WELL)


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_a_probe_needs_neither_a_known_host_nor_credentials(web: Web, path: str) -> None:
    answer = httpx.get(web.url + path, headers={"Host": "10.1.2.3"})
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_a_head_has_no_body_and_a_post_is_refused(web: Web, path: str) -> None:
    head = httpx.head(web.url + path)
    assert (head.status_code, head.content) == (200, b"")
    post = httpx.post(web.url + path, content=b"x")
    assert (post.status_code, post.headers["allow"]) == (405, "GET, HEAD")


def test_without_postgresql_it_is_alive_but_not_ready(simulator: RunningSimulator) -> None:
    door = DoorProxy(postgres_port())
    with door, running_web(simulator, DATABASE_URL=through(door.port)) as web:
        assert ready(web)[0] == 200
        with door.shut():
            calls.wait_for(lambda: ready(web)[0] == 503)
            assert ready(web)[1] == {
                **ALL_WELL,
                "database": "unavailable",
                "migrations": "unknown",
                "plans": "unknown",
            }
            assert httpx.get(f"{web.url}/livez").status_code == 200
        wait_until_ready(web)


def test_however_often_it_is_asked_it_logs_once_what_it_is_not_ready_for_and_that_it_is(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    door, log = DoorProxy(postgres_port()), tmp_path / "web.log"
    with door, running_web(simulator, log=str(log), DATABASE_URL=through(door.port)) as web:
        assert ready(web)[0] == 200
        with door.shut(), httpx.Client(base_url=web.url, timeout=10) as probe:
            calls.wait_for(lambda: ready(web)[0] == 503)
            deadline = time.monotonic() + 2.5 * KEPT_SECONDS
            while time.monotonic() < deadline:
                assert probe.get("/readyz").status_code == 503
        wait_until_ready(web)
        wait_until_ready(web)
        assert log.read_text().count("health.ready ") == 1
        lines = [line for line in log.read_text().splitlines() if "health.not_ready" in line]
        assert 1 <= len(lines) <= 2, "the models may be unknown a moment later"


def test_a_frozen_postgresql_keeps_no_probe_waiting(simulator: RunningSimulator) -> None:
    lossy = LossyProxy(postgres_port())
    with lossy, running_web(simulator, DATABASE_URL=through(lossy.port)) as web:
        assert ready(web)[0] == 200
        lossy.flowing.clear()
        time.sleep(1.1)  # the last answer counts for a second
        began = time.monotonic()
        with ThreadPoolExecutor(10) as threads:
            answers = list(threads.map(lambda _: ready(web)[0], range(10)))
        assert answers == [503] * 10
        assert time.monotonic() - began < 5
        lossy.flowing.set()
        wait_until_ready(web)


def test_without_redis_it_is_ready_and_says_what_is_away(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    own = OwnRedis(tmp_path)
    try:
        with running_web(simulator, REDIS_URL=own.url) as web, own.dead():
            calls.wait_for(lambda: ready(web)[1]["redis"] == "unavailable")
            assert ready(web)[0] == 200
    finally:
        own.stop()


@contextmanager
def unapplied(app: str, name: str) -> Iterator[None]:
    """As in a database that an older release has migrated."""
    with psycopg.connect(database_url(), autocommit=True) as database:
        where = (app, name)
        database.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", where)
        try:
            yield
        finally:
            database.execute(
                "INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", where
            )


def test_an_older_database_is_not_ready_until_it_is_migrated(web: Web) -> None:
    wait_until_ready(web)  # before the database is set up, nothing is known of models
    with unapplied("files", "0001_initial"):
        calls.wait_for(lambda: ready(web) == (503, {**ALL_WELL, "migrations": "pending"}))
    wait_until_ready(web)


@contextmanager
def disabled(model: str) -> Iterator[None]:
    """As an operator leaves it in the admin."""
    AIModel.objects.filter(pk=model).update(enabled=False)
    try:
        yield
    finally:
        AIModel.objects.filter(pk=model).update(enabled=True)


@pytest.mark.usefixtures("committed")
def test_without_a_model_that_can_be_called_it_is_not_ready_until_there_is_one(
    simulator: RunningSimulator,
) -> None:
    """Later it stays ready, whatever operators do to models: a proxy would take all processes out,
    and the admin with them."""
    with ExitStack() as stack:
        with disabled("mistral-medium-3.5"):
            web = stack.enter_context(running_web(simulator, SIMULATED_PROVIDERS="mistral"))
            answer = httpx.get(f"{web.url}/readyz")
            assert answer.status_code == 503
            assert answer.json()["checks"] == {**ALL_WELL, "models": "none"}
            assert answer.json()["detail"].startswith("No model can be called: set the key of")
        calls.wait_for(lambda: ready(web) == (200, ALL_WELL))
        with disabled("mistral-medium-3.5"):
            calls.wait_for(lambda: offered(web) == [])
            time.sleep(1.1)  # the last answer counts for a second
            assert ready(web) == (200, ALL_WELL)


def offered(web: Web) -> list[str]:
    """The models of providers that are configured."""
    listed = httpx.get(f"{web.url}/v1/models").json()["data"]
    return [model["id"] for model in listed if model["id"] == "mistral-medium-3.5"]


@pytest.mark.usefixtures("committed")
def test_without_the_key_of_a_provider_it_is_not_ready(simulator: RunningSimulator) -> None:
    with running_web(simulator, SIMULATED_PROVIDERS="") as web:
        assert ready(web) == (503, {**ALL_WELL, "models": "none"})


@pytest.mark.usefixtures("committed")
def test_with_every_provider_switched_off_it_is_ready(simulator: RunningSimulator) -> None:
    switch_provider(name="mistral", is_off=True)
    try:
        with running_web(simulator, SIMULATED_PROVIDERS="mistral") as web:
            assert ready(web) == (200, ALL_WELL)
    finally:
        switch_provider(name="mistral", is_off=False)


@pytest.mark.usefixtures("committed")
def test_a_draining_process_is_not_ready(simulator: RunningSimulator) -> None:
    """Over a connection that was open before: new ones are not taken any more."""
    alice = new_user("alice", plan="max", balance_usd=5)
    _, key = new_key(alice)
    marker = uuid7().hex
    with (
        running_web(simulator) as web,
        httpx.Client(base_url=web.url, timeout=10) as probe,
        ThreadPoolExecutor(1) as thread,
    ):
        assert probe.get("/readyz").status_code == 200
        body = calls.body(marker, stream=True, tokens=40, delay_ms=50)
        stream = thread.submit(calls.post, web.url, key, body)
        calls.wait_for(lambda: simulator.calls(marker))
        os.kill(web.process.pid, signal.SIGTERM)
        answer = probe.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["process"]) == (503, "draining")
        assert stream.result(timeout=20).status_code == 200
