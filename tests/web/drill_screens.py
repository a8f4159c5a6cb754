"""The web app in Debian's Chromium, against a web process, a worker and the simulator: each file of
`web/tests/e2e/` is a test."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from devserver import node
from devserver.paths import ROOT
from devserver.web_app import WebApp
from simulator.process import RunningSimulator
from tests.clients.page import needs_browser
from tests.service import Web, running_web
from tests.web.furniture import furnished
from tests.web_app import needs_packages
from tests.worker import running_beat, running_worker

SPECS = ROOT / "web" / "tests" / "e2e"

pytestmark = [needs_browser, needs_packages, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The web app as its sources are now: that of `make run`, if it is."""
    app, there = WebApp(), ROOT / "var" / "web"
    if app.is_built(there):
        return there
    folder = tmp_path_factory.mktemp("var") / "web"
    app.build(folder)
    return folder


@pytest.fixture(scope="module")
def var(
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Path]:
    """The folder of the service, with what the screens are tried with."""
    folder = tmp_path_factory.mktemp("screens") / "var"
    with django_db_blocker.unblock(), furnished(folder):
        yield folder


@pytest.fixture(scope="module")
def environment(build: Path, var: Path, simulator: RunningSimulator) -> dict[str, str]:
    """Of its processes. It serves the app, lets users choose their plans as developers may, and
    believes a proxy, so that each test comes from a client of its own."""
    return {
        "DJANGO_SETTINGS_MODULE": "tests.web.screens_settings",
        "VAR_DIR": str(var),
        "WEB_APP": "on",
        "WEB_APP_DIR": str(build),
        "SELF_SERVICE_TOPUP": "1",
        "DEMO": "1",
        "TRUSTED_PROXY_HOPS": "1",
        "GOOGLE_AUTHORIZE_URL": f"{simulator.url}/identity/authorize",
    }


@pytest.fixture(scope="module")
def web(
    environment: dict[str, str], django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    with django_db_blocker.unblock(), running_web(simulator, **environment) as web:
        yield web


@pytest.fixture(scope="module")
def _worker(
    web: Web,
    environment: dict[str, str],
    var: Path,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[None]:
    """A worker, with beat, which has it send mails. They point to the web process, and are in its
    log."""
    log = var / "log" / "worker.log"
    log.parent.mkdir()
    own: dict[str, Any] = {**environment, "PUBLIC_BASE_URL": web.url}
    with (
        django_db_blocker.unblock(),
        running_worker(simulator, log=str(log), **own),
        running_beat(simulator, var, **own),
    ):
        yield


@pytest.mark.usefixtures("committed", "_worker")
@pytest.mark.parametrize("spec", sorted(path.name for path in SPECS.glob("*.spec.ts")))
def test_screens(spec: str, web: Web, var: Path, tmp_path: Path) -> None:
    own = {"SERVICE_URL": web.url, "VAR_DIR": str(var), "TEST_RESULTS": str(tmp_path)}
    done = subprocess.run(
        node.node("node_modules/@playwright/test/cli.js", "test", f"/{spec}"),
        cwd=WebApp().source,
        env={**node.environment(WebApp().source), **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
