"""Connections of the pools: they tell of outages, and of broken ones all are replaced at once.

Of each, a pool finds for itself that it is broken, and pauses for longer and longer in between: of
eight that a restart of PostgreSQL has broken, a caller tries three in 2.5 seconds.
"""

from typing import Any, Self, cast

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from common.outages import OUTAGE


class WatchedConnection(psycopg.Connection[Any]):
    """A connection of Django's pool."""

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Self:
        with OUTAGE.watched():
            return super().connect(*args, **options)


class WatchedAsyncConnection(psycopg.AsyncConnection[Any]):
    """A connection of the pools of event loops."""

    @classmethod
    async def connect(cls, *args: Any, **options: Any) -> Self:
        with OUTAGE.watched():
            return await super().connect(*args, **options)


def check(connection: psycopg.Connection[Any]) -> None:
    """Raise OperationalError where it is broken; its pool then replaces all."""
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        cast(ConnectionPool[Any], connection._pool).drain()
        raise


async def acheck(connection: psycopg.AsyncConnection[Any]) -> None:
    """The same on an event loop."""
    try:
        await AsyncConnectionPool.check_connection(connection)
    except psycopg.OperationalError:
        await cast(AsyncConnectionPool[Any], connection._pool).drain()
        raise
