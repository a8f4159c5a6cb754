"""Connections that work end an outage, and one that is broken has all of its pool replaced."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import psycopg
import pytest
from django.db import connection

from common.database import Database
from common.outages import OUTAGE, UNSERVED_SECONDS
from common.watched_connections import WatchedConnection
from devserver.ports import LOOPBACK, free_port
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed")

MANY = 6


@pytest.fixture(autouse=True)
def _afterwards() -> Iterator[None]:
    yield
    connection.close()
    OUTAGE.served()


def meet_an_outage(connect: Callable[..., object] = WatchedConnection.connect) -> None:
    """Try to connect to no server until it tells: threads of other tests may have connections that
    work meanwhile."""
    while not OUTAGE.is_known:
        time.sleep(UNSERVED_SECONDS)
        with suppress(psycopg.OperationalError):
            connect(host=LOOPBACK, port=free_port())


def end(pids: list[int]) -> None:
    """End these connections, as a restart of PostgreSQL does that is over."""
    with psycopg.connect(database_url(), autocommit=True) as observer:
        observer.execute("SELECT pg_terminate_backend(pid, 1000) FROM unnest(%s) pid", [pids])


async def test_a_connection_of_the_hot_path_that_works_ends_it() -> None:
    database = Database()
    await database.rows("SELECT 1")
    meet_an_outage()
    await database.rows("SELECT 1")
    await database.close()
    assert not OUTAGE.is_known


def test_a_connection_of_django_s_pool_that_works_ends_it() -> None:
    connection.ensure_connection()
    connection.close()
    meet_an_outage()
    connection.ensure_connection()
    assert not OUTAGE.is_known


def test_a_process_without_a_pool_meets_and_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "pool", False)
    parameters = connection.get_connection_params()

    def connect(**elsewhere: object) -> None:
        connection.get_new_connection({**parameters, **elsewhere})

    meet_an_outage(connect)
    connection.get_new_connection(parameters).close()
    assert not OUTAGE.is_known


async def test_a_restart_that_is_over_fails_no_statement_of_the_hot_path() -> None:
    database = Database()
    held = [await database.borrow() for _ in range(MANY)]
    for kept in held:
        await database.release(kept)
    await asyncio.to_thread(end, [kept.info.backend_pid for kept in held])
    began_at = time.monotonic()
    assert await database.rows("SELECT 1") == [(1,)]
    await database.close()
    assert time.monotonic() - began_at < 0.8


def test_a_restart_that_is_over_fails_no_request_of_django() -> None:
    connection.ensure_connection()
    pool = connection.pool  # type: ignore[attr-defined]
    connection.close()
    held = [pool.getconn() for _ in range(MANY)]
    for kept in held:
        pool.putconn(kept)
    end([kept.info.backend_pid for kept in held])
    began_at = time.monotonic()
    connection.ensure_connection()
    assert time.monotonic() - began_at < 0.8
