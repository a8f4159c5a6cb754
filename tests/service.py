"""The service as users meet it: real web processes on real sockets, over the test's own stores."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from common.shutdown import DEFAULT_DRAIN_SECONDS, GRACE_SECONDS
from devserver.parts import web_command
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import LOOPBACK, answers, free_port
from devserver.processes import Process
from devserver.service import Service
from server.serve import APPLICATION
from simulator.identity import CLIENT_ID, ISSUER
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.forked import ForkedProcess

# A web app on an origin of its own, which may call /api.
WEB_APP = "https://web.example.com"


@dataclass
class Web:
    """One running web process."""

    port: int
    process: Process

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def kill(self) -> None:
        """kill -9: no drain, no last word."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait_stopped()


@contextmanager
def running_web(
    simulator: RunningSimulator,
    *,
    application: str = APPLICATION,
    log: str | None = None,
    port: str = "",
    **environment: str,
) -> Iterator[Web]:
    """A web process until the block ends, on `port` or on any; what it prints goes to the file
    `log`."""
    number = int(port) if port else free_port()
    service = Service(
        name="web",
        command=(*web_command(number), "--application", application),
        is_ready=lambda: answers(number, "/v1/models"),
        env={
            **environment_of_a_process(simulator),
            "PUBLIC_BASE_URL": f"http://{LOOPBACK}:{number}",
            "CORS_ALLOWED_ORIGINS": WEB_APP,
            "GOOGLE_CLIENT_IDS": CLIENT_ID,
            "GOOGLE_ISSUERS": ISSUER,
            "GOOGLE_JWKS_URL": simulator.jwks_url,
            **environment,
        },
        grace=DEFAULT_DRAIN_SECONDS + GRACE_SECONDS,
    )
    process = Process(service, log=Path(log) if log else None, start=ForkedProcess)
    try:
        process.wait_until_ready(timeout=30)
        yield Web(number, process)
    finally:
        process.stop()


def environment_of_a_process(simulator: RunningSimulator) -> dict[str, str]:
    """What web processes and workers share: settings, stores, providers."""
    return {
        "PYTHONPATH": PYTHONPATH,
        "DJANGO_SETTINGS_MODULE": "tests.hurried_settings",
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "SIMULATOR_URL": simulator.url,
    }


def run_to_its_end(
    simulator: RunningSimulator, *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command in the environment of a process, which ends by itself within a minute."""
    return subprocess.run(
        command,
        env={**inherited(), **environment_of_a_process(simulator), **environment},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def database_url() -> str:
    """Where this worker's test database is."""
    parameters = connection.get_connection_params()
    return "postgres://{user}@{host}:{port}/{dbname}".format(**parameters)
