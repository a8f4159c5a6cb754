"""The hot path goes to the database that Django knows, by the way that Django was told."""

import asyncio

import pytest
from django.db import connection, connections

from common.database import Database, connection_parameters


def test_what_the_url_says_of_tls_and_options_holds_for_the_hot_path_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = connections["default"].settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "sslmode", "verify-full")
    monkeypatch.setitem(options, "sslrootcert", "/etc/ca.pem")
    monkeypatch.setitem(options, "options", "-c search_path=app")

    parameters = connection_parameters()

    assert parameters["sslmode"] == "verify-full"
    assert parameters["sslrootcert"] == "/etc/ca.pem"
    assert parameters["options"].startswith("-c search_path=app -c ")
    assert "pool" not in parameters


@pytest.mark.django_db
def test_nobody_waits_for_a_row_for_ever() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("10s",)


@pytest.mark.usefixtures("committed")
async def test_a_cancellation_that_comes_together_with_a_connection_is_heard() -> None:
    """It does so in every other try: two wait for the one connection that the pool has."""
    for _ in range(12):
        database, over = Database(), asyncio.Event()
        await database.rows("SELECT 1")
        asking = asyncio.create_task(_ask_until(over, database))
        await asyncio.sleep(0)
        await database.rows("SELECT 1")
        asking.cancel()
        _, goes_on = await asyncio.wait({asking}, timeout=5)
        over.set()
        await asyncio.wait({asking})
        await database.close()
        assert not goes_on


async def _ask_until(over: asyncio.Event, database: Database) -> None:
    while not over.is_set():
        await asyncio.sleep(0)
        await database.rows("SELECT 1")
