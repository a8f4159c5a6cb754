"""The web app under `make run`: when it is built, and what is said where it cannot be."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from devserver import configuration
from devserver.errors import LocalError
from devserver.parts import parts
from devserver.ports import LOOPBACK, free_port
from devserver.web_app import STAMP, WebApp
from tests.environment import inherited
from tests.web_app import copied


@pytest.fixture
def app(tmp_path: Path) -> WebApp:
    """A copy of the app, without its packages."""
    return copied(tmp_path / "source")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of npm's registry, where nobody listens. Nothing has been fetched before."""
    url = f"http://{LOOPBACK}:{free_port()}"
    monkeypatch.setenv("npm_config_registry", url)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    return url


def built(folder: Path, app: WebApp) -> Path:
    """What a build of the sources leaves."""
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("Hello.")
    (folder / STAMP).write_text(app.digest)
    return folder


@pytest.mark.parametrize(
    "name", ["src/app.html", "project.inlang/settings.json", "package-lock.json", "src/new.ts"]
)
def test_a_change_of_what_is_built_asks_for_a_build(app: WebApp, tmp_path: Path, name: str) -> None:
    folder = built(tmp_path / "web", app)
    assert app.is_built(folder)
    with (app.source / name).open("a") as file:
        file.write("\n")
    assert not app.is_built(folder)


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "tests/e2e/home.spec.ts", "src/ui/menu.test.ts", "src/api/schema.d.ts"),
        *("node_modules/svelte/index.js", "src/paraglide/messages.js", "build/index.html"),
    ],
)
def test_what_no_build_reads_asks_for_none(app: WebApp, tmp_path: Path, name: str) -> None:
    folder = built(tmp_path / "web", app)
    (app.source / name).parent.mkdir(parents=True, exist_ok=True)
    (app.source / name).write_text("changed")
    assert app.is_built(folder)


def test_a_file_that_is_gone_or_renamed_asks_for_a_build(app: WebApp, tmp_path: Path) -> None:
    folder = built(tmp_path / "web", app)
    page = app.source / "src/app.html"
    page.rename(page.with_name("error.html"))
    assert not app.is_built(folder)


def test_without_a_registry_it_says_so_and_leaves_what_was_built(
    app: WebApp, tmp_path: Path, registry: str
) -> None:
    folder = built(tmp_path / "web", app)
    (app.source / "src/new.ts").write_text("changed")
    with pytest.raises(LocalError, match="npm reaches no registry"):
        app.build(folder)
    assert (folder / "index.html").read_text() == "Hello."
    assert [path.name for path in tmp_path.glob("web*")] == ["web"]


def test_what_is_built_needs_no_registry(app: WebApp, tmp_path: Path, registry: str) -> None:
    app.build(built(tmp_path / "web", app))


def test_a_builder_that_is_stopped_leaves_no_process(
    app: WebApp, tmp_path: Path, registry: str
) -> None:
    """npm waits for a registry which does not answer."""
    port = int(registry.rpartition(":")[2])
    command = ("-m", "devserver.web_app", "--source", app.source, "build", tmp_path / "web")
    with socket.create_server((LOOPBACK, port)) as silent:
        npm = {name: value for name, value in os.environ.items() if name.startswith("npm_")}
        builder = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, *command], env={**inherited(), **npm}
        )
        connection, _ = silent.accept()
        started = psutil.Process(builder.pid).children(recursive=True)
        builder.send_signal(signal.SIGTERM)
        assert builder.wait(timeout=10) == 128 + signal.SIGTERM
        connection.close()
    assert started
    _, alive = psutil.wait_procs(started, timeout=5)
    assert alive == []


@pytest.mark.parametrize(
    "environ", [{"WEB_APP": "off"}, {"WEB_APP": "0"}, {"WEB_APP_DIR": "/elsewhere"}]
)
def test_it_is_not_built_where_it_is_not_served(tmp_path: Path, environ: dict[str, str]) -> None:
    assert "web-app" in parts(configuration.resolve({}, tmp_path))
    assert "web-app" not in parts(configuration.resolve(environ, tmp_path))


def test_no_process_is_started_where_it_is_built(tmp_path: Path) -> None:
    local = configuration.resolve({}, tmp_path)
    assert parts(local)["web-app"]().without == "There is no web app at /."
    built(local.web_app, WebApp())
    assert "web-app" not in parts(local)
    (local.web_app / STAMP).write_text("of other sources")
    assert "as it was built before" in parts(local)["web-app"]().without
