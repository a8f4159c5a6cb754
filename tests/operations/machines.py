"""Machines that a service is installed on, and restored on. Each has a PostgreSQL, a Redis and
folders of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

from devserver import postgres, redis
from devserver.configuration import simulated_connectors
from devserver.paths import ROOT
from devserver.ports import LOOPBACK, free_port
from devserver.processes import Process
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.operations.blocks import run
from tests.service import Web, running_web
from tests.worker import Worker, running_beat, running_worker

SECRETS = {
    "SECRET_KEY": "the-secret-key-of-the-drill-0123456789abcdef",
    "API_KEY_PEPPER": "the-pepper-of-the-drill-0123456789abcdefghi",
    "ENCRYPTION_KEYS": "the-encryption-key-of-the-drill-0123456789",
}


PASSWORD = "ofplatform"


@dataclass
class Machine:
    """Stores that run, and what processes on the machine find in their environment. The role of the
    service is no superuser."""

    folder: Path
    port: int
    redis_url: str
    simulator: RunningSimulator
    database: Process

    @property
    def environment(self) -> dict[str, str]:
        return {
            **SECRETS,
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "VAR_DIR": str(self.folder / "var"),
            "DATABASE_URL": f"postgres://platform:{PASSWORD}@{LOOPBACK}:{self.port}/platform",
            "POSTGRES_PASSWORD": PASSWORD,
            "ADMIN_DATABASE_URL": postgres.url(self.port, "postgres"),
            "REDIS_URL": self.redis_url,
            "OUTPUTS_DIR": str(self.folder / "outputs"),
            "UPLOADS_DIR": str(self.folder / "uploads"),
            "OUTPUTS_BUCKET": "",
            "SIMULATOR_URL": self.simulator.url,
            "OUTBOUND_ALLOWED": "127.0.0.1",
            "TITLE_MODEL": "",
            **simulated_connectors(self.simulator.url),
        }

    def install(self) -> None:
        """The role, the database, tables, catalog and plans."""
        run("first-setup.md#database", self.environment | self.add_administrator())
        subprocess.run(
            [sys.executable, "-m", "devserver.prepare"],
            env={**inherited(), **self.environment, "DATABASE_POOL": "0"},
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What a statement gives."""
        url = self.environment["DATABASE_URL"]
        with psycopg.connect(url, autocommit=True) as connection:
            return connection.execute(sql.encode(), values or None).fetchall()

    def administer(self, sql: str) -> None:
        """Run a statement as the superuser, in the database `postgres`."""
        url = self.environment["ADMIN_DATABASE_URL"]
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.encode())

    def add_administrator(self) -> dict[str, str]:
        """Variables of a new role that may create roles and databases, and is no superuser."""
        self.administer("CREATE ROLE administrator LOGIN CREATEROLE CREATEDB")
        return {"ADMIN_DATABASE_URL": f"postgres://administrator@{LOOPBACK}:{self.port}/postgres"}

    def restart_database(self) -> None:
        self.database.stop()
        self.database = Process(self.database.service)
        self.database.wait_until_ready(timeout=30)

    def die(self) -> None:
        """Nothing of its database is written any more."""
        os.kill(self.database.pid, signal.SIGQUIT)
        self.database.wait_stopped()

    @contextmanager
    def running(self) -> Iterator[tuple[Web, Worker]]:
        """Web, worker and beat."""
        with ExitStack() as stack:
            web = stack.enter_context(running_web(self.simulator, **self.environment))
            worker = stack.enter_context(
                running_worker(self.simulator, takes_messages=True, **self.environment)
            )
            beat = running_beat(self.simulator, self.folder, **self.environment)
            stack.enter_context(beat)
            yield web, worker


@contextmanager
def machine(
    folder: Path, simulator: RunningSimulator, *, data: Path | None = None, durable: bool = True
) -> Iterator[Machine]:
    """An empty machine, or one whose PostgreSQL finds its files in `data`. What is not `durable` is
    faster, and would not outlast a loss of power."""
    folder.mkdir(mode=0o711, exist_ok=True)
    with ExitStack() as stack:
        port, redis_port = free_port(), free_port()
        cache = Process(redis.service(folder / "redis", redis_port, durable=durable))
        stack.callback(cache.stop)
        if data is None:
            data = folder / "postgres"
            postgres.initialise(data)
        database = Process(postgres.service(data, port, durable=durable))
        made = Machine(folder, port, redis.url(redis_port), simulator, database)
        stack.callback(lambda: made.database.stop())
        database.wait_until_ready(timeout=60)
        cache.wait_until_ready(timeout=10)
        yield made


@dataclass
class Person:
    """Somebody who uses the service over HTTP alone, whichever machine it is on."""

    email: str
    password: str = "correct horse battery staple"
    token: str = ""
    refresh_token: str = ""
    key: str = ""

    def send(self, web: Web, method: str, path: str, **options: Any) -> httpx.Response:
        """A request with the access token, or with the key under `/v1`."""
        secret = self.key if path.startswith("/v1") else self.token
        headers = options.pop("headers", {})
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        return httpx.request(method, f"{web.url}{path}", headers=headers, timeout=30, **options)

    def get(self, web: Web, path: str) -> Any:
        return self._ok(self.send(web, "GET", path))

    def post(self, web: Web, path: str, body: Any = None, **options: Any) -> Any:
        return self._ok(self.send(web, "POST", path, json=body, **options))

    def sign_up(self, web: Web) -> None:
        self._keep(self.post(web, "/api/auth/signup", self._credentials))

    def sign_in(self, web: Web) -> None:
        self._keep(self.post(web, "/api/auth/login", self._credentials))

    def refresh(self, web: Web) -> httpx.Response:
        body = {"refresh_token": self.refresh_token}
        return self.send(web, "POST", "/api/auth/refresh", json=body)

    @property
    def _credentials(self) -> dict[str, str]:
        return {"email": self.email, "password": self.password}

    def _keep(self, tokens: dict[str, Any]) -> None:
        self.token, self.refresh_token = tokens["access_token"], tokens["refresh_token"]

    @staticmethod
    def _ok(answer: httpx.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json()
