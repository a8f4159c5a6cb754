"""Processes of the service that are forked from one which has imported their libraries.

The suite starts hundreds of processes, and two thirds of a start are imports. A forked process has
an environment, a session, a pipe and an exit code of its own, as `subprocess.Popen` gives them.
The commands themselves are run by `make run` (tests/drill_local_default.py).
"""

import atexit
import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import DupFd
from typing import Any

from django.conf import settings

_context = multiprocessing.get_context("forkserver")
# What web processes and workers import, in so far as it needs no settings.
_context.set_forkserver_preload(
    [
        "aiohttp",
        "authlib.oauth2",
        "celery.apps.worker",
        "celery.bin.celery",
        "celery.schedules",
        "channels.auth",
        "channels.generic.websocket",
        "corsheaders.middleware",
        "cryptography.hazmat.primitives.asymmetric.rsa",
        "django.contrib.admin.sites",
        "django.contrib.postgres.apps",
        "django.contrib.postgres.search",
        "django.core.handlers.asgi",
        "django.core.management",
        "django.db.backends.postgresql.base",
        "django.db.migrations.executor",
        "django.db.models",
        "django.http",
        "django.test.signals",
        "django_stubs_ext",
        "drf_spectacular.utils",
        "environ",
        "filetype",
        "httpx",
        "jinja2",
        "jsonschema_rs",
        "jwt",
        "kombu.transport.redis",
        "markdown_it",
        "msgspec",
        "nh3",
        "prometheus_client",
        "psycopg_pool",
        "pygit2",
        "redis.asyncio",
        "requests",
        "rest_framework.serializers",
        "segno",
        "servestatic.middleware",
        "structlog",
        "unfold.dataclasses",
        "uvicorn.main",
        "uvicorn.protocols.http.httptools_impl",
        "uvicorn.protocols.websockets.websockets_sansio_impl",
        "uvloop",
        "yaml",
        # Of our own, what needs no settings either.
        "billing.cost_steps",
        "ai.provider_health.permit",
        "media.probe.inspecting",
        "ai.providers.registry",
        "publicapi.v1.exchange",
    ]
)


class ForkedProcess:
    """`python -m MODULE ARGUMENTS` as a child whose output goes into a pipe."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], **_: Any) -> None:
        python, option, module, *arguments = command
        assert (python, option) == (sys.executable, "-m"), command
        read, write = os.pipe()
        in_session, begin_session = _context.Pipe(duplex=False)
        try:
            program = (module, arguments, dict(env), DupFd(write), begin_session)
            self._process = _context.Process(target=_run, args=program, daemon=True)
            self._process.start()
        finally:
            os.close(write)
            begin_session.close()
        # Until then it cannot be killed as a group.
        with in_session, suppress(EOFError):
            in_session.recv()
        self.stdout = open(read, errors="replace")  # noqa: SIM115 - its reader closes it

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self) -> int:
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _run(
    module: str,
    arguments: list[str],
    environment: dict[str, str],
    output: Any,
    begin_session: Connection,
) -> None:
    """Be this program."""
    assert not settings.configured, "a preloaded module has read the settings of the test run"
    os.setsid()
    descriptor = output.detach()
    with begin_session:
        begin_session.send(None)
    for standard in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
