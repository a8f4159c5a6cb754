"""The web app of `make run`: it is built before it is served, and where it cannot be, one line says
so."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from devserver.errors import LocalError
from devserver.paths import ROOT
from devserver.ports import LOOPBACK, free_port, is_free
from devserver.web_app import STAMP, WebApp
from tests.chaos.calls import wait_for
from tests.environment import inherited
from tests.local_default import COMMAND, Service, environment, reachable
from tests.personas import PASSWORD, new_user
from tests.recipes.tree_copy import copy_of_the_tree
from tests.service import Web
from tests.web_app import copied, link_packages, needs_packages

Start = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the service, which is stopped after the test."""
    started: list[Service] = []

    def start(*, tree: Path = ROOT, **changes: str) -> Service:
        started.append(Service(reachable(tmp_path), tree=tree, WEB_APP="on", **changes))
        return started[-1]

    yield start
    for service in started:
        service.stop()


@pytest.fixture
def app(tmp_path: Path) -> WebApp:
    """A copy of the app with its packages."""
    app = copied(tmp_path / "source")
    link_packages(app, tools=True)
    return app


@contextmanager
def served_sources(web: Web) -> Iterator[str]:
    """The origin of the development server, which `make web` starts, in front of a web process."""
    port = free_port()
    options = ("--host", LOOPBACK, "--port", str(port), "--strictPort")
    command = [sys.executable, "-m", "devserver.web_app", "serve", *options]
    server = subprocess.Popen(
        command, env={**inherited(), "SERVICE_URL": web.url}, stdout=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: not is_free(port), seconds=60)
        yield f"http://{LOOPBACK}:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


def front_page(service: Service) -> httpx.Response:
    """What a browser is shown at /."""
    url = f"http://{LOOPBACK}:{service.port}/"
    return httpx.get(url, headers={"Accept": "text/html"})


def lines(service: Service) -> list[str]:
    """What is said of the web app."""
    return [line for line in service.output.splitlines() if "web-app" in line]


def test_without_a_registry_one_line_says_so_and_the_rest_is_served(
    start: Start, tmp_path: Path
) -> None:
    tree = copy_of_the_tree(tmp_path / "tree").tree
    service = start(
        tree=tree,
        PYTHONPATH=f"{tree}:{tree}/platform:{tree}/tools",
        npm_config_registry=f"http://{LOOPBACK}:{free_port()}",
        npm_config_cache=str(tmp_path / "cache"),
    )
    [said] = lines(service)
    assert said.startswith("local     | failed: web-app. npm reaches no registry")
    assert said.endswith(f"Its log: {service.var / 'log' / 'web-app.log'}")
    assert "ECONNREFUSED" in (service.var / "log" / "web-app.log").read_text()
    assert front_page(service).status_code == 200


@needs_packages
def test_it_is_served_from_the_first_start_on_and_built_once(start: Start) -> None:
    service = start()
    [said] = lines(service)
    assert said.startswith("local     | done: web-app (")
    assert (service.var / "web" / STAMP).exists()
    [entry, *_] = re.findall(r"/_app/immutable/entry/start\.[\w-]+\.js", front_page(service).text)
    assert (service.var / "web" / entry.removeprefix("/")).exists()
    service.stop()
    service.output = ""
    service.start()
    assert lines(service) == []


@needs_packages
def test_a_build_that_fails_leaves_the_one_of_before(app: WebApp, tmp_path: Path) -> None:
    folder = tmp_path / "web"
    app.build(folder)
    assert app.is_built(folder)
    before = (folder / "index.html").read_text()
    (app.source / "src/routes/+layout.ts").write_text("export const {")
    with pytest.raises(LocalError, match="The web app cannot be built"):
        app.build(folder)
    assert (folder / "index.html").read_text() == before
    assert not app.is_built(folder)


@needs_packages
def test_the_routes_are_listed_without_their_groups(app: WebApp, tmp_path: Path) -> None:
    page = app.source / "src/routes/(signed-in)/notes/[id]/+page.svelte"
    page.parent.mkdir(parents=True)
    page.write_text("<p></p>")
    app.build(tmp_path / "web")
    routes = (tmp_path / "web" / "routes.json").read_text()
    assert '"/"' in routes
    assert '"/notes/[id]"' in routes
    assert "signed-in" not in routes


@needs_packages
def test_builders_of_one_tree_take_turns(app: WebApp, tmp_path: Path) -> None:
    command = ("-m", "devserver.web_app", "--source", app.source, "build")
    builders = [
        subprocess.Popen([sys.executable, *command, tmp_path / name]) for name in ("one", "two")
    ]
    assert [builder.wait(timeout=120) for builder in builders] == [0, 0]
    assert app.is_built(tmp_path / "one")
    assert app.is_built(tmp_path / "two")


@needs_packages
def test_the_development_server_shows_the_sources_and_passes_calls_and_sockets_on(
    committed: None, web: Web
) -> None:
    alice = new_user("alice")
    with served_sources(web) as origin, httpx.Client(base_url=origin, timeout=30) as http:
        page = http.get("/anywhere", headers={"Accept": "text/html"}).text
        who = {"email": alice.email, "password": PASSWORD}
        signed_in = http.post("/api/auth/login", json=who, headers={"Origin": origin})
        token = signed_in.json()["access_token"]
        socket = f"{origin.replace('http', 'ws')}/api/ws?token={token}"
        with connect(socket, origin=Origin(origin)) as own:
            headers = {"Authorization": f"Bearer {token}"}
            assert http.post("/api/conversations", json={}, headers=headers).status_code == 201
            while json.loads(own.recv(timeout=10)).get("type") != "conversation.created":
                pass
    assert "/@vite/client" in page or "/node_modules/" in page


def test_without_a_service_there_is_no_development_server(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND[:-1], "web"],
        env=environment(VAR_DIR=str(tmp_path), SERVICE_URL=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "Nothing has run here: start it with `make run` in another terminal.\n"
