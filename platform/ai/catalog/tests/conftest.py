"""Fixtures: an empty catalog, a database that goes away, no snapshot left by another test."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from ai.catalog import selectors


@pytest.fixture(autouse=True)
def no_snapshot() -> Iterator[None]:
    selectors.reset()
    yield
    selectors.reset()


@pytest.fixture
def empty_catalog(db: None) -> None:
    """As if nothing had been seeded, until the test's transaction is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE catalog_aimodel, catalog_retiredmodel, catalog_seeded CASCADE")


@pytest.fixture
def no_pool(committed: None) -> Iterator[None]:
    """Connections that are closed when Django closes them, and opened without waiting."""
    with connected_with("OPTIONS", {}):
        yield


@contextmanager
def database_away() -> Iterator[None]:
    """Nobody listens where the database was. Needs `no_pool`."""
    with connected_with("PORT", "1"):
        yield


@contextmanager
def connected_with(setting: str, value: object) -> Iterator[None]:
    """Change a setting that the connections of all threads share."""
    connection.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict, setting, value)
        yield
        connection.close()
