"""Pytest plugin: every run has stores of its own, started before Django reads its settings.

Loaded by `-p` in pytest.ini: a conftest.py would come too late for pytest-django.
"""

import os
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from devserver.errors import LocalError
from devserver.throwaway import MARK, stores


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Start the stores once, in the controlling process; its xdist workers share the servers.

    pytest-django gives each worker a PostgreSQL database of its own; here each gets a Redis one,
    and a folder for files.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    options = early_config.known_args_namespace
    if worker is None and not (options.help or options.version):
        stack = ExitStack()
        early_config.add_cleanup(stack.close)
        try:
            started = stack.enter_context(stores())
        except LocalError as error:
            raise pytest.UsageError(str(error)) from None
        os.environ["DATABASE_URL"] = started.database_url
        os.environ["REDIS_URL"] = started.redis_url
        os.environ["OUTPUTS_DIR"] = f"{started.folder}/outputs"
        os.environ["UPLOADS_DIR"] = f"{started.folder}/uploads"
        # Whatever a developer's own .env says.
        os.environ["OUTPUTS_BUCKET"] = ""
        os.environ[MARK] = started.folder
    elif worker is not None:
        server, _, _ = os.environ["REDIS_URL"].rpartition("/")
        os.environ["REDIS_URL"] = f"{server}/{int(worker.removeprefix('gw')) + 1}"
        os.environ["OUTPUTS_DIR"] += f"/{worker}"
        os.environ["UPLOADS_DIR"] += f"/{worker}"
    yield
