"""The hot path's connections to PostgreSQL: a psycopg async pool, one per event loop.

Django's ORM, used outside its request handler, runs on one thread per process; code on an event
loop (`/v1`, runners, consumers) therefore calls SQL functions through this pool instead, one
function call per step, each its own transaction. Opened on first use: not every server has a
lifespan.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from common.errors import ServiceUnavailable
from common.loop_local import LoopLocal
from common.outages import OUTAGE, report
from common.watched_connections import WatchedAsyncConnection, acheck

# Seconds for a statement, the wait for a connection included: a frozen server never answers. Lock
# waits end earlier, by the functions' own lock_timeout.
STATEMENT_SECONDS = 5.0
# Seconds for asking the server to cancel a statement that took too long; then the connection is
# closed.
CANCEL_SECONDS = 1.0
# Connections that lanes may keep, beside those of the pool.
MAX_LANES = 10

Row = tuple[Any, ...]

Connection = psycopg.AsyncConnection[Row]

_DJANGOS_OWN = frozenset({"cursor_factory", "client_encoding", "context", "prepare_threshold"})

# A standby that was the primary a moment ago refuses to write: it counts as away.
_AWAY = (
    psycopg.OperationalError,
    psycopg.errors.ReadOnlySqlTransaction,
    PoolTimeout,
    PoolClosed,
    TooManyRequests,
    TimeoutError,
)
# Operational errors of a working connection: another transaction holds a lock for too long.
_CONTENDED = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)


class DatabaseUnavailable(ServiceUnavailable):
    """PostgreSQL cannot be reached, or did not answer in time."""


class Database:
    """A pool of autocommit connections, bound to the event loop that opened it.

    Whoever ends the loop closes the database first: a pool's task that is connecting outlives its
    cancellation, and a loop that waits for this task never ends.
    """

    def __init__(self) -> None:
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._opening = asyncio.Lock()
        self._lanes: list[Lane] = []

    async def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one statement that gives rows, as one transaction.

        Raises DatabaseUnavailable; the outcome of the statement is then unknown.
        """
        try:
            async with _answer_in_time():
                connection = await self.borrow()
                try:
                    return await _rows(connection, sql, params)
                finally:
                    await self.release(connection)
        except _CONTENDED as error:
            raise DatabaseUnavailable from error

    async def row(self, sql: str, params: Sequence[Any] = ()) -> Row:
        """The first row of a statement that always has one."""
        return (await self.rows(sql, params))[0]

    async def borrow(self) -> Connection:
        """A connection of the pool, for the caller to give back."""
        pool = self._pool or await self._open()
        task = asyncio.current_task()
        cancellations = task.cancelling() if task else 0
        connection = await pool.getconn(OUTAGE.patience)
        # The pool waits by asyncio.wait_for, which before Python 3.12 loses a cancellation that
        # comes together with the connection: a cancelled loop would run for ever.
        if task and task.cancelling() > cancellations:
            await self.release(connection)
            raise asyncio.CancelledError
        OUTAGE.served()
        return connection

    async def release(self, connection: Connection) -> None:
        """Return a connection; a broken one is replaced."""
        if self._pool is None:
            await connection.close()
        else:
            await self._pool.putconn(connection)

    def lane(self) -> "Lane":
        """A new lane, closed together with this database."""
        if len(self._lanes) == MAX_LANES:
            raise RuntimeError("There are more lanes than connections for them.")
        lane = Lane(self)
        self._lanes.append(lane)
        return lane

    def pool_stats(self) -> dict[str, int]:
        """What psycopg's pool counts of itself; nothing before it is opened."""
        return self._pool.get_stats() if self._pool else {}

    async def close(self) -> None:
        """Close all connections; the next statement opens new ones."""
        for lane in self._lanes:
            await lane.release()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _open(self) -> AsyncConnectionPool[Connection]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
                    kwargs=connection_parameters(),
                    connection_class=WatchedAsyncConnection,
                    min_size=1,
                    max_size=settings.HOT_POOL_SIZE + MAX_LANES,
                    # Lanes wait beside the calls.
                    max_waiting=settings.MAX_OPEN_CALLS + MAX_LANES,
                    max_lifetime=600,
                    # The pool's own attempts come further and further apart; a caller that finds
                    # them given up starts new ones.
                    reconnect_timeout=3.0,
                    # The pool checks each connection before use. The check costs a round trip; the
                    # busiest callers use lanes.
                    check=acheck,
                    open=False,
                )
                await pool.open(wait=False)
                self._pool = pool
            return self._pool


class Lane:
    """A connection kept for a caller that runs statements one after the other, all the time.

    Borrowing from the pool for each costs more than a short statement. A broken connection (a
    restarted server, a failover) is replaced and the statement repeated once: a lane is for
    statements that may be repeated.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None

    async def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """Like `Database.rows`. A statement that another transaction's lock prevented raises
        psycopg's error, and had no effect."""
        async with _answer_in_time():
            kept = self._connection
            if kept is not None and not kept.closed:
                try:
                    return await _rows(kept, sql, params)
                except psycopg.OperationalError:
                    if not kept.closed:
                        raise
            await self.release()
            self._connection = await self._database.borrow()
            return await _rows(self._connection, sql, params)

    async def release(self) -> None:
        """Return the connection to the pool; the next statement takes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._database.release(connection)


@asynccontextmanager
async def _answer_in_time() -> AsyncIterator[None]:
    """Bound a statement's time, and turn every error of an absent database into
    DatabaseUnavailable.

    There are two timeouts: at the first psycopg asks the server to cancel, at the second it closes
    the connection.
    """
    try:
        async with (
            asyncio.timeout(STATEMENT_SECONDS + CANCEL_SECONDS),
            asyncio.timeout(STATEMENT_SECONDS),
        ):
            yield
    except _CONTENDED:
        raise
    except _AWAY as error:
        report(error)
        raise DatabaseUnavailable from error


async def _rows(connection: Connection, sql: str, params: Sequence[Any]) -> list[Row]:
    cursor = await connection.execute(sql, params)
    return await cursor.fetchall()


def connection_parameters() -> dict[str, Any]:
    """Django's parameters of its default database, read now: tests rename it."""
    parameters = connections["default"].get_connection_params()
    options = parameters.pop("options", "")
    # Every statement here finds rows by their keys, so one plan serves all parameters. PostgreSQL
    # would plan a lookup by an array of keys again each time, and might read a whole table that was
    # small when the plan was made.
    of_session: dict[str, Any] = {
        "options": f"{options} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off"
    }
    if settings.DATABASE_POOLER:
        # The session is not ours: its options are those of the role.
        of_session = {"prepare_threshold": None}
    return {
        # The URL's options, TLS included, without those that are Django's own.
        **{key: value for key, value in parameters.items() if key not in _DJANGOS_OWN},
        "autocommit": True,
        "application_name": "platform-hot",
        **of_session,
    }


_databases = LoopLocal(Database)


def pool_stats() -> list[dict[str, int]]:
    """What the pools of this process count of themselves."""
    return [database.pool_stats() for database in _databases.all()]


def get_database() -> Database:
    """The running event loop's pool."""
    return _databases.get()
