"""Liveness and readiness, for load balancers and orchestrators.

`GET /livez` answers 200 as long as the event loop runs. `GET /readyz` answers 200, or 503 where the
process cannot do its work: `{"status": "ready" | "not_ready", "checks": {name: state}}`, and in the
latter case `detail`, a sentence for each reason. Both are answered on every host, because a probe
uses the process's address, and without authentication, because they reveal nothing else.

A service that is not set up is not ready: without plans nobody can sign up, and without a model
that can be called there is nothing to sell. What operators do later never makes a process unready,
because a proxy would then take all of them out, with the admin: neither switches nor circuits
count, and a process that has had such a model has them (docs/decisions/0078).
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

from ai.catalog.selectors import aget_catalog
from ai.inference.runtime import get_runtime
from billing.types import FREE_PLAN
from common.database import DatabaseUnavailable, Row, get_database
from common.errors import ServiceUnavailable
from common.loop_local import LoopLocal
from common.threads import in_thread
from server.asgi import Scope, Send

log = structlog.get_logger(__name__)

PATHS = frozenset({"/livez", "/readyz"})
# Seconds for each store, which are asked side by side: a probe is answered within two seconds,
# whatever they do.
DATABASE_SECONDS = 1.5
REDIS_SECONDS = 0.5
# The stores are asked once in this many seconds, however many probes come.
KEPT_SECONDS = 1.0
OK = "ok"
UNAVAILABLE = "unavailable"
UNKNOWN = "unknown"
PENDING = "pending"
NONE = "none"
DRAINING = "draining"

# What the process cannot work without, with the sentence for whoever looks why. Without Redis it
# can, if more slowly.
REQUIRED = {
    ("process", DRAINING): "The process ends: it serves what it has, and takes no more.",
    ("database", UNAVAILABLE): "PostgreSQL does not answer.",
    ("migrations", PENDING): "The database is not that of this release: run `manage.py setup`.",
    ("plans", NONE): "There are no plans, so nobody can sign up: run `manage.py setup`.",
    ("models", UNAVAILABLE): "The catalog cannot be read.",
    ("models", NONE): "No model can be called: set the key of a provider (docs/configuration.md), "
    "and run `manage.py setup` if that was never done.",
}
_STATES = frozenset(name for name, _ in REQUIRED)

# Without applied migrations there may be no plans to ask for.
_APPLIED = """
SELECT app, name, EXISTS (SELECT FROM billing_plan WHERE key = %s) FROM django_migrations
"""

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
        self._has_had_models = False

    async def checks(self) -> dict[str, str]:
        """A state for each of `process`, `database`, `migrations`, `plans`, `models` and `redis`:
        "ok" or the problem."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= KEPT_SECONDS:
                self._stores = await self._ask()
                self._asked_at = time.monotonic()
        return {"process": DRAINING if get_runtime().draining else OK, **self._stores}

    async def _ask(self) -> dict[str, str]:
        in_time = time.monotonic() + DATABASE_SECONDS
        (database, migrations, plans), redis = await asyncio.gather(self._database(), _redis())
        is_migrated = (database, migrations) == (OK, OK)
        models = await self._models(in_time) if is_migrated or self._has_had_models else UNKNOWN
        stores = {
            "database": database,
            "migrations": migrations,
            "plans": plans,
            "models": models,
            "redis": redis,
        }
        # When it changes, and not for each probe.
        if not is_ready(stores) and stores != self._stores:
            log.warning("health.not_ready", checks=stores)
        if is_ready(stores) and not is_ready(self._stores):
            log.warning("health.ready", checks=stores)
        return stores

    async def _models(self, in_time: float) -> str:
        """Is there a model that can be called: switched on, with a price, of a provider that is
        configured? Calls use the same snapshot of the catalog."""
        if self._has_had_models:
            return OK
        try:
            async with asyncio.timeout(max(0.0, in_time - time.monotonic())):
                catalog = await aget_catalog()
        except (ServiceUnavailable, TimeoutError):
            return UNAVAILABLE
        providers = {model.provider for model in catalog.models.values()}
        self._has_had_models = not providers.isdisjoint(settings.PROVIDERS)
        return OK if self._has_had_models else NONE

    async def _database(self) -> tuple[str, str, str]:
        """The states of the database, of its migrations and of the plans."""
        if self._query is None:
            self._query = asyncio.create_task(self._lane.rows(_APPLIED, (FREE_PLAN,)))
        # The query is not cancelled: psycopg would wait until a frozen server confirms it.
        done, _ = await asyncio.wait([self._query], timeout=DATABASE_SECONDS)
        if not done:
            return UNAVAILABLE, UNKNOWN, UNKNOWN
        query, self._query = self._query, None
        try:
            rows = query.result()
        except psycopg.errors.UndefinedTable:
            return OK, PENDING, UNKNOWN
        except DatabaseUnavailable:
            return UNAVAILABLE, UNKNOWN, UNKNOWN
        if self._expected is None:
            self._expected = await in_thread(_migrations_of_the_code)
        is_current = self._expected <= {(app, name) for app, name, _ in rows}
        has_plans = any(has_plans for *_, has_plans in rows)
        return OK, OK if is_current else PENDING, OK if has_plans else NONE


async def _redis() -> str:
    try:
        async with asyncio.timeout(REDIS_SECONDS), Redis.from_url(settings.REDIS_URL) as redis:
            await cast(Awaitable[bool], redis.ping())
    except (RedisError, OSError, TimeoutError):
        return UNAVAILABLE
    return OK


def _migrations_of_the_code() -> frozenset[Migration]:
    return frozenset(MigrationLoader(None).disk_migrations)


def is_ready(checks: Mapping[str, str]) -> bool:
    """Is everything ok that is required?"""
    return all(state == OK for name, state in checks.items() if name in _STATES)


_readiness = LoopLocal(Readiness)


async def application(scope: Scope, send: Send) -> None:
    """Answer a request for one of PATHS. The body is not read."""
    status, content = await _answer(scope)
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


async def _answer(scope: Scope) -> tuple[int, Mapping[str, object]]:
    """The status and the body."""
    if scope["method"] not in ("GET", "HEAD"):
        return 405, {"detail": "Use GET."}
    if scope["path"] == "/livez":
        return 200, {"status": "alive"}
    checks = await _readiness.get().checks()
    if is_ready(checks):
        return 200, {"status": "ready", "checks": checks}
    detail = " ".join(REQUIRED[check] for check in checks.items() if check in REQUIRED)
    return 503, {"status": "not_ready", "checks": checks, "detail": detail}
