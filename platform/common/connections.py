"""Connections to PostgreSQL: how many all processes may open, and whether the server has as many.

A web process opens those of Django's pool, of the pool of its calls, and of its lanes. In a worker
each thread of both executors (common/threads.py) has one, and so has the thread that shares the
health of providers; a periodic task that must be alone has two. The beat has one more where it
reads the stores for the metrics.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error

from common.database import MAX_LANES, connection_parameters
from common.threads import MAX_THREADS

_OPTIONS = "lock_timeout to 10s and plan_cache_mode to force_generic_plan"
# PgBouncer's answer to the options of a connection.
_REFUSED_OPTIONS = "unsupported startup parameter"

_SERVER = """
SELECT sum(setting::int * CASE name WHEN 'max_connections' THEN 1 ELSE -1 END)::int,
       current_setting('lock_timeout')
FROM pg_settings
WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')
"""


@dataclass(frozen=True)
class Demand:
    """The most connections that each kind of process may open."""

    web: int
    worker: int
    beat: int
    reserve: int

    @property
    def total(self) -> int:
        return self.web + self.worker + self.beat + self.reserve

    def __str__(self) -> str:
        return (
            f"{self.total} connections (web {self.web}, worker {self.worker}, beat {self.beat}, "
            f"reserve {self.reserve})"
        )


@dataclass(frozen=True)
class Server:
    """What PostgreSQL says: its connections for roles that are no superusers, and the lock_timeout
    of a session of ours."""

    connections: int
    lock_timeout: str


def demand() -> Demand:
    """By the settings."""
    of_calls = settings.HOT_POOL_SIZE + MAX_LANES
    of_threads = 2 * settings.WORKER_CONCURRENCY + 2 * MAX_THREADS + 1
    return Demand(
        web=settings.WEB_PROCESSES * (settings.DATABASE_POOL_SIZE + of_calls),
        worker=settings.WORKER_PROCESSES * (of_threads + of_calls),
        beat=2 if settings.METRICS_PORT else 1,
        reserve=settings.RESERVED_CONNECTIONS,
    )


def server() -> Server:
    """Over a connection of its own: a pool would not say why there is none. Raises psycopg's
    OperationalError."""
    with psycopg.connect(**connection_parameters()) as connection:
        row = connection.execute(_SERVER).fetchone()
    assert row is not None  # noqa: S101 - an aggregate
    return Server(*row)


def problems() -> list[str]:
    """A sentence for each reason why the processes cannot work with this server. Raises psycopg's
    OperationalError where it does not answer."""
    try:
        answer = server()
    except psycopg.OperationalError as error:
        if _REFUSED_OPTIONS in str(error):
            return ["There is a pooler in front of PostgreSQL: set DATABASE_POOLER=transaction."]
        raise
    found = []
    # Behind a pooler it is the pooler that has the connections.
    if not settings.DATABASE_POOLER and demand().total > answer.connections:
        found.append(
            f"The processes may open {demand()}, and PostgreSQL has {answer.connections}. Raise "
            "its max_connections, put a pooler in between (DATABASE_POOLER), or lower "
            "WEB_PROCESSES, WORKER_PROCESSES, DATABASE_POOL_SIZE or HOT_POOL_SIZE."
        )
    if answer.lock_timeout == "0":
        found.append(
            "The options of connections do not arrive: set DATABASE_POOLER=transaction where there "
            f"is a pooler, and have it set {_OPTIONS} in each session (connect_query of PgBouncer)."
        )
    return found


def connections_add_up(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: object
) -> Sequence[CheckMessage]:
    """In production, for `migrate` and `check --database default`."""
    if not settings.PRODUCTION or "default" not in (databases or ()):
        return []
    return [Error(sentence, id="common.E001") for sentence in problems()]
