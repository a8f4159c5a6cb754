"""The web app in Debian's Chromium, against a web process, a worker and the simulator: each file of
`web/tests/e2e/` is a test."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from devserver import node
from devserver.paths import ROOT
from devserver.web_app import WebApp
from simulator.process import RunningSimulator
from tests.clients.page import needs_browser
from tests.service import Web, running_web
from tests.web_app import needs_packages

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
def web(
    build: Path,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
) -> Iterator[Web]:
    """A web process that serves it, and lets users choose their plans as developers may."""
    own = {"WEB_APP": "on", "WEB_APP_DIR": str(build), "SELF_SERVICE_TOPUP": "1"}
    with django_db_blocker.unblock(), running_web(simulator, **own) as web:
        yield web


@pytest.mark.usefixtures("committed", "worker")
@pytest.mark.parametrize("spec", sorted(path.name for path in SPECS.glob("*.spec.ts")))
def test_screens(spec: str, web: Web, tmp_path: Path) -> None:
    own = {"SERVICE_URL": web.url, "TEST_RESULTS": str(tmp_path)}
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
