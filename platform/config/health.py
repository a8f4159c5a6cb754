"""Liveness and readiness, for load balancers and orchestrators.

`GET /livez` answers 200 as long as the event loop runs. `GET /readyz` answers 200, or 503 where the
process cannot do its work: `{"status": "ready" | "not_ready", "checks": {name: state}}`. Both are
answered on every host, because a probe uses the process's address, and without authentication,
because they reveal nothing else.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from typing import cast

import psycopg
import structlog
from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from msgspec import json
from redis.asyncio import Redis
from redis.exceptions import RedisError

from common.database import DatabaseUnavailable, Row, get_database
from common.perloop import PerLoop
from common.threads import in_thread
from edge.asgi import Scope, Send
from inference.runtime import get_runtime

log = structlog.get_logger(__name__)

PATHS = frozenset({"/livez", "/readyz"})
# Seconds for each store, which are asked side by side: a probe is answered within two seconds,
# whatever they do.
DATABASE_SECONDS = 1.5
REDIS_SECONDS = 0.5
# The stores are asked once in this many seconds, however many probes come.
KEPT_SECONDS = 1.0
# The process cannot work without these. Without Redis it can, if more slowly.
REQUIRED_STORES = ("database", "migrations")

OK = "ok"
UNAVAILABLE = "unavailable"

_APPLIED = "SELECT app, name FROM django_migrations"

Migration = tuple[str, str]


class Readiness:
    """The last answers of the stores, for one event loop."""

    def __init__(self) -> None:
        # A connection of its own: a busy process is still ready.
        self._lane = get_database().lane()
        self._stores: dict[str, str] = {}
        self._asked_at = -KEPT_SECONDS
        self._asking = asyncio.Lock()
        self._expected: frozenset[Migration] | None = None
        self._query: asyncio.Task[list[Row]] | None = None

    async def checks(self) -> dict[str, str]:
        """A state for each of `process`, `database`, `migrations` and `redis`: "ok" or the
        problem."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= KEPT_SECONDS:
                self._stores = await self._ask()
                self._asked_at = time.monotonic()
        return {"process": "draining" if get_runtime().draining else OK, **self._stores}

    async def _ask(self) -> dict[str, str]:
        (database, migrations), redis = await asyncio.gather(self._database(), _redis())
        stores = {"database": database, "migrations": migrations, "redis": redis}
        # Logged here, at most once a second, and not for each probe.
        if any(stores[name] != OK for name in REQUIRED_STORES):
            log.warning("health.not_ready", checks=stores)
        return stores

    async def _database(self) -> tuple[str, str]:
        """The states of the database and of its migrations."""
        if self._query is None:
            self._query = asyncio.create_task(self._lane.rows(_APPLIED))
        # The query is not cancelled: psycopg would wait until a frozen server confirms it.
        done, _ = await asyncio.wait([self._query], timeout=DATABASE_SECONDS)
        if not done:
            return UNAVAILABLE, "unknown"
        query, self._query = self._query, None
        try:
            rows = query.result()
        except psycopg.errors.UndefinedTable:
            return OK, "pending"
        except DatabaseUnavailable:
            return UNAVAILABLE, "unknown"
        if self._expected is None:
            self._expected = await in_thread(_migrations_of_the_code)
        return OK, OK if self._expected <= set(rows) else "pending"


async def _redis() -> str:
    try:
        async with asyncio.timeout(REDIS_SECONDS), Redis.from_url(settings.REDIS_URL) as redis:
            await cast(Awaitable[bool], redis.ping())
    except (RedisError, OSError, TimeoutError):
        return UNAVAILABLE
    return OK


def _migrations_of_the_code() -> frozenset[Migration]:
    return frozenset(MigrationLoader(None).disk_migrations)


_readiness = PerLoop(Readiness)


async def application(scope: Scope, send: Send) -> None:
    """Answer a request for one of PATHS. The body is not read."""
    if scope["method"] not in ("GET", "HEAD"):
        await _answer(scope, send, 405, {"detail": "Use GET."})
        return
    if scope["path"] == "/livez":
        await _answer(scope, send, 200, {"status": "alive"})
        return
    checks = await _readiness.get().checks()
    is_ready = all(checks[name] == OK for name in ("process", *REQUIRED_STORES))
    status = "ready" if is_ready else "not_ready"
    await _answer(scope, send, 200 if is_ready else 503, {"status": status, "checks": checks})


async def _answer(scope: Scope, send: Send, status: int, content: Mapping[str, object]) -> None:
    body = json.encode(content)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    if status == 405:
        headers.append((b"allow", b"GET, HEAD"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
