"""The stores of all lives, one after the other: PostgreSQL and Redis that can be ended and started
again under the service, and for each life a database of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis
from psycopg import sql

from bench.campaign.hurried import IN_SQL, STARTUP_GRACE
from devserver import postgres
from devserver import redis as local_redis
from devserver.paths import ROOT
from devserver.ports import LOOPBACK
from devserver.processes import Process
from devserver.throwaway import DATABASE, MARK
from devserver.throwaway import Stores as Throwaway

# Not the superuser: the number of its connections can be limited.
ROLE = "service"
TEMPLATE, LIFE = DATABASE, "life"
_START_SECONDS = 30
_LOOK = 0.1


class Stores:
    """Throw-away stores. What is started here ends with their keeper."""

    def __init__(self, started: Throwaway) -> None:
        os.environ[MARK] = started.folder
        self.folder = Path(started.folder)
        self.postgres_port = _port(started.database_url)
        self.redis_port = _port(started.redis_url)
        self._clock_shift = 0.0

    def database_url(self, name: str, port: int | None = None) -> str:
        """As whom the service connects; `port` is that of a proxy."""
        return f"postgres://{ROLE}@{LOOPBACK}:{port or self.postgres_port}/{name}"

    def redis_url(self, port: int | None = None) -> str:
        return local_redis.url(port or self.redis_port)

    def as_superuser(self, statement: str, *names: str, database: str = LIFE) -> list[Any]:
        """Run one statement that may be repeated, in which `{}` are names. Returns its rows. While
        the server is away it is tried again."""
        url = postgres.url(self.postgres_port, database)
        query = sql.SQL(statement).format(*map(sql.Identifier, names))
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    cursor = connection.execute(query)
                    return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK)

    # --- Databases --------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the template of all lives, and let this process use the database of the life."""
        self.as_superuser("CREATE ROLE {} LOGIN", ROLE, database="postgres")
        self.as_superuser("ALTER DATABASE {} OWNER TO {}", TEMPLATE, ROLE, database="postgres")
        self.as_superuser("ALTER SCHEMA public OWNER TO {}", ROLE, database=TEMPLATE)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "bench.campaign.settings",
            "DATABASE_URL": self.database_url(TEMPLATE),
            "DATABASE_POOL": "0",
            "REDIS_URL": self.redis_url(),
        }
        setup = [sys.executable, str(ROOT / "manage.py"), "setup"]
        subprocess.run(setup, stdout=subprocess.DEVNULL, check=True)
        self._hurry()
        os.environ["DATABASE_URL"] = self.database_url(LIFE)

    def _hurry(self) -> None:
        """Shorten the times that the SQL functions of the template say."""
        with psycopg.connect(self.database_url(TEMPLATE), autocommit=True) as connection:
            for path, changes in IN_SQL.items():
                text = (ROOT / path).read_text()
                for before, after in changes.items():
                    assert before in text, f"{path} does not say {before}"
                    text = text.replace(before, after)
                connection.execute(text)

    def begin_life(self, clock_shift: float) -> None:
        """A fresh database, whose clock of money is so many seconds ahead, and an empty Redis."""
        self.end_life()
        self.as_superuser(
            "CREATE DATABASE {} TEMPLATE {} OWNER {}", LIFE, TEMPLATE, ROLE, database="postgres"
        )
        self.as_superuser(
            f"ALTER DATABASE {{}} SET platform.startup_grace = '{STARTUP_GRACE}'", LIFE
        )
        self._clock_shift = clock_shift
        if clock_shift:
            self.step_clock(0.0)
        self.redis().flushall()

    def step_clock(self, seconds: float) -> None:
        """Let the clock of money be so many seconds ahead of that of the life, or behind it."""
        # The setting platform.clock would make it stand still.
        self.as_superuser(
            "CREATE OR REPLACE FUNCTION money_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS"
            f" $$ SELECT clock_timestamp() + interval '{self._clock_shift + seconds} seconds' $$"
        )

    def end_life(self) -> None:
        self.as_superuser("DROP DATABASE IF EXISTS {} WITH (FORCE)", LIFE, database="postgres")

    def dump(self, path: Path) -> None:
        """Write the life's database to a file that `pg_restore` reads."""
        program = postgres.binary("pg_dump")
        url = postgres.url(self.postgres_port, LIFE)
        subprocess.run([program, "-Fc", "-f", str(path), url], check=True)

    # --- Ending and starting them -----------------------------------------------------------------

    def stop_postgres(self, *, in_order: bool) -> None:
        """Its fast shutdown, or its immediate one, after which it has to recover."""
        os.kill(self._postmaster(), signal.SIGINT if in_order else signal.SIGQUIT)
        _wait_until(lambda: not self._lock.exists())

    def start_postgres(self) -> None:
        """Start it unless it runs."""
        if self._lock.exists():
            return
        postgres.initialise(self.folder / "postgres")
        service = postgres.service(self.folder / "postgres", self.postgres_port)
        Process(service).wait_until_ready(timeout=_START_SECONDS)

    def redis(self) -> "redis.Redis":
        return redis.Redis(port=self.redis_port, socket_timeout=5)

    def stop_redis(self) -> None:
        """kill -9."""
        pid = self.redis_pid()
        os.kill(pid, signal.SIGKILL)
        _wait_until(lambda: not self._redis_answers())

    def start_redis(self, *, is_empty: bool) -> None:
        """Start it unless it runs: with what it had written to its file, or with nothing."""
        if self._redis_answers():
            return
        service = local_redis.service(self.folder / "redis", self.redis_port, durable=not is_empty)
        Process(service).wait_until_ready(timeout=_START_SECONDS)

    def redis_pid(self) -> int:
        info: dict[str, Any] = self.redis().info("server")  # type: ignore[assignment]
        return int(info["process_id"])

    def _redis_answers(self) -> bool:
        try:
            return bool(self.redis().ping())
        except redis.RedisError:
            return False

    @property
    def _lock(self) -> Path:
        return self.folder / "postgres" / "postmaster.pid"

    def _postmaster(self) -> int:
        return int(self._lock.read_text().split(maxsplit=1)[0])


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port
    return port


def _wait_until(what: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "a store did not end in time"
        time.sleep(_LOOK)
