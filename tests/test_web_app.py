"""The web app at `/`: its files, its pages, and what stays of the service's own."""

import gzip
import shutil
import socket
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from config.web_app.build import current_build
from config.web_app.routes import MAX_PATH, Routes
from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.nginx import needs_nginx, running_nginx
from tests.service import Web, running_web
from tests.web_build import BROTLI, INDEX, SCRIPTS, START, START_SCRIPT, STYLE, write_build

# It is one of ALLOWED_HOSTS, too.
API_HOST = "localhost"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
NOT_FOUND = {"detail": "There is nothing at this address.", "code": "not_found"}
IMMUTABLE = "public, max-age=31536000, immutable"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("web"))


@pytest.fixture
def served(settings: Settings, build: Path) -> None:
    """The app is served by this process."""
    settings.WEB_APP, settings.WEB_APP_DIR = True, str(build)


@pytest.fixture(scope="module")
def app(
    django_db_setup: None,
    django_db_blocker: Any,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Web]:
    """A web process that serves the app, and goes on with the build that it began with when that is
    taken away."""
    folder = write_build(tmp_path_factory.mktemp("web"))
    with (
        django_db_blocker.unblock(),
        running_web(simulator, WEB_APP="on", WEB_APP_DIR=str(folder), API_HOST=API_HOST) as web,
    ):
        shutil.rmtree(folder)
        yield web


def source_of(text: str) -> str:
    """What allows an inline script or style in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def get(web: Web, path: str, **headers: str) -> httpx.Response:
    return httpx.get(f"{web.url}{path}", headers={"accept": "*/*", "accept-encoding": ""} | headers)


# --- Pages --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sign-in",
        "/sign-in/",
        "/chat/01a21225-d900-7000-8000-000000000011",
        "/shared/a.b-c_d?lang=de",
        "/help",
        "/help/keys/caps",
    ],
)
def test_a_browser_is_shown_the_app_on_each_of_its_pages(client: Client, path: str) -> None:
    response = client.get(path, headers=BROWSER)
    assert (response.status_code, response.content.decode()) == (200, INDEX)
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert response["Cache-Control"] == "no-cache"
    assert {"Accept", "Accept-Encoding"} <= set(response["Vary"].split(", "))
    assert "Set-Cookie" not in response


@pytest.mark.usefixtures("served")
def test_a_page_that_has_not_changed_is_not_sent_again(client: Client) -> None:
    tag = client.get("/", headers=BROWSER)["ETag"]
    again = client.get("/chat/1", headers=BROWSER | {"if-none-match": tag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    assert client.get("/", headers=BROWSER | {"if-none-match": 'W/"x"'}).status_code == 200


@pytest.mark.usefixtures("served")
def test_a_page_is_sent_compressed_to_whoever_takes_that(client: Client) -> None:
    response = client.get("/", headers=BROWSER | {"accept-encoding": "br, gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert gzip.decompress(response.content).decode() == INDEX


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/chat",
        "/chat/1/2",
        "/sign-in//",
        "/index.html",
        "/routes.json",
        "/.env",
        "/.git/config",
        "/../config/settings",
        "/chat/" + "x" * MAX_PATH,
    ],
)
def test_a_browser_is_shown_by_the_app_that_there_is_no_such_page(
    client: Client, path: str
) -> None:
    response = client.get(path, headers=BROWSER | {"if-none-match": "*"})
    assert (response.status_code, response.content.decode()) == (404, INDEX)
    assert "ETag" not in response
    assert "Cache-Control" not in response


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("path", ["/", "/sign-in", "/nothing", "/models/x"])
@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html", ""])
def test_a_program_gets_the_404_of_any_unknown_path(client: Client, path: str, accept: str) -> None:
    response = client.get(path, headers={"accept": accept} if accept else {})
    assert (response.status_code, response.json()) == (404, NOT_FOUND)
    assert "Accept" in response["Vary"]


@pytest.mark.usefixtures("served")
def test_a_page_is_only_read(client: Client) -> None:
    assert client.post("/sign-in", headers=BROWSER).json() == NOT_FOUND
    head = client.head("/sign-in", headers=BROWSER)
    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == str(len(INDEX.encode()))


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/", "/api/nothing", "/v1", "/files", "/admin", "/static/nothing.js"),
        *("/ws", "/docs/x", "/redoc/", "/healthz", "/livez/", "/metrics", "/openapi.json/"),
    ],
)
def test_the_paths_of_the_service_keep_their_own_errors(client: Client, path: str) -> None:
    response = client.get(path, headers=BROWSER)
    assert (response.status_code, response.json()) == (404, NOT_FOUND)


@pytest.mark.usefixtures("served")
def test_the_paths_of_the_service_keep_their_own_answers(client: Client) -> None:
    for path, expected in (
        *(("/docs", 200), ("/openapi.json", 200), ("/admin/", 302), ("/api/auth/me", 401)),
        *(("/api/models", 401), ("/files/nothing", 403)),
    ):
        response = client.get(path, headers=BROWSER)
        assert (response.status_code, INDEX in response.content.decode()) == (expected, False)


@pytest.mark.usefixtures("served")
def test_the_policy_allows_what_stands_in_the_page_and_nothing_else_inline(
    client: Client,
) -> None:
    policy = client.get("/chat/1", headers=BROWSER)["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert set(rules.pop("script-src").split()) == {"'self'", *map(source_of, SCRIPTS)}
    assert rules == {
        "default-src": "'self'",
        "style-src": f"'self' {source_of(STYLE)}",
        "style-src-attr": "'unsafe-inline'",
        "font-src": "'self' data:",
        "img-src": "'self' data: blob: https:",
        "media-src": "'self' blob:",
        "connect-src": "'self' ws://testserver",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.usefixtures("served")
def test_with_tls_the_sockets_have_it_too(client: Client) -> None:
    response = client.get("/", headers=BROWSER, secure=True, HTTP_HOST="testserver")
    assert "connect-src 'self' wss://testserver;" in response["Content-Security-Policy"]


def test_without_a_build_the_front_page_stands_there(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.WEB_APP, settings.WEB_APP_DIR = True, str(tmp_path / "none")
    assert "/admin/" in client.get("/", headers=BROWSER).content.decode()
    nowhere = client.get("/sign-in", headers=BROWSER)
    assert (nowhere.status_code, nowhere.json()) == (404, NOT_FOUND)


@pytest.mark.usefixtures("served")
def test_the_app_can_be_switched_off(client: Client, settings: Settings) -> None:
    settings.WEB_APP = False
    assert "/admin/" in client.get("/", headers=BROWSER).content.decode()
    assert client.get("/sign-in", headers=BROWSER).json() == NOT_FOUND


@pytest.mark.parametrize(
    "routes", ["", "{", "{}", "[1]", '["sign-in"]', '["/a//b"]', '["/[[lang]]"]', '["/(app)/a"]']
)
def test_half_a_build_is_not_served(settings: Settings, tmp_path: Path, routes: str) -> None:
    settings.WEB_APP, settings.WEB_APP_DIR = True, str(write_build(tmp_path))
    (tmp_path / "routes.json").write_text(routes)
    with pytest.raises(ImproperlyConfigured, match=r"routes\.json must be the list"):
        current_build()


def test_a_route_is_matched_segment_by_segment() -> None:
    routes = Routes(["/a/[id=uuid]", "/b/[one]-[two]", "/c/[...rest]/d", "/e.f"])
    for path in ("/a/1", "/b/1-2", "/b/1-2-3", "/c/d", "/c/1/d", "/c/1/2/d", "/e.f", "/a/é ß"):
        assert routes.have(path), path
    for path in ("/", "/a", "/a/", "/a/1/2", "/b/12", "/c", "/c/1", "/e-f", "/e.fg", "", "*"):
        assert not routes.have(path), path


# --- Files, and the way of requests -------------------------------------------------------------


def test_a_file_with_a_hash_in_its_name_is_kept_for_ever(app: Web) -> None:
    answer = get(app, START)
    assert (answer.status_code, answer.text) == (200, START_SCRIPT)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == IMMUTABLE
    assert answer.headers["content-length"] == str(len(START_SCRIPT.encode()))
    assert answer.headers["vary"] == "Accept-Encoding"


def test_a_file_without_one_is_asked_for_again(app: Web) -> None:
    for path, media_type in (
        ("/_app/version.json", "application/json"),
        ("/icon.svg", "image/svg+xml"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/two%20words.txt", "text/plain; charset=utf-8"),
    ):
        answer = get(app, path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
        assert answer.headers["cache-control"] == "no-cache"
        again = get(app, path, **{"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == answer.headers["etag"]


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("gzip, br;q=0", "gzip"),
        ("identity", None),
    ],
)
def test_a_file_is_sent_in_the_smallest_form_that_the_client_takes(
    app: Web, accepted: str, coding: str | None
) -> None:
    with httpx.stream("GET", f"{app.url}{START}", headers={"accept-encoding": accepted}) as answer:
        sent = b"".join(answer.iter_raw())
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    text = gzip.decompress(sent) if coding == "gzip" else sent
    assert text == (BROTLI if coding == "br" else START_SCRIPT.encode())


def test_the_head_of_a_file_says_what_a_get_would(app: Web) -> None:
    head = httpx.head(f"{app.url}{START}", headers={"accept-encoding": "gzip"})
    whole = httpx.get(f"{app.url}{START}", headers={"accept-encoding": "gzip"})
    assert (head.status_code, head.content) == (200, b"")
    assert {**head.headers, "date": ""} == {**whole.headers, "date": ""}


def test_files_are_guarded_like_everything_else(app: Web) -> None:
    headers = get(app, START).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    # A worker has the policy of its file: it may ask the service, and run no inline script.
    policy = headers["content-security-policy"]
    assert "connect-src 'self';" in policy
    assert "script-src 'self';" in policy


def test_nothing_is_served_but_the_files_of_the_build(app: Web) -> None:
    for path in (
        *("/.env", "/.git/config", "/elsewhere", "/routes.json", "/index.html", f"{START}.gz"),
        *("/_app/immutable/entry/start.0000.js", "/_app", "/_app/", "/docs/index.js"),
        *("/%2e%2e/%2e%2e/etc/passwd", "/_app/..%2f.env", "/_app/%2e%2e/icon.svg", "//icon.svg"),
        "/icon.svg%00",
    ):
        answer = get(app, path)
        assert (answer.status_code, answer.json()) == (404, NOT_FOUND), path
        assert answer.headers["cache-control"] == "no-store"
    assert get(app, "/api/models").status_code == 401


def test_a_path_that_leaves_the_folder_is_not_resolved(app: Web) -> None:
    """Clients resolve dots before they send them; an attacker does not."""
    with socket.create_connection((LOOPBACK, app.port), timeout=10) as connection:
        connection.sendall(
            b"GET /_app/../../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Connection: close\r\n\r\n"
        )
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 404 ")


def test_only_reading_a_file_is_answered_with_it(app: Web) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = httpx.request(method, f"{app.url}/icon.svg")
        assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


def test_the_host_of_the_api_and_unknown_hosts_have_no_app(app: Web) -> None:
    for path in ("/", "/sign-in", START):
        answer = get(app, path, host=API_HOST, **BROWSER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        unknown = get(app, path, host="else.example", **BROWSER)
        assert (unknown.status_code, unknown.json()["code"]) == (400, "invalid_host")


def test_a_page_with_the_name_of_an_endpoint_of_v1_is_for_browsers(app: Web) -> None:
    """Programs whose base address lacks `/v1` mean the endpoint."""
    page = get(app, "/models", **BROWSER)
    assert (page.status_code, page.text) == (200, INDEX)
    listed = get(app, "/models")
    assert listed.json().keys() == {"error"}
    posted = httpx.post(f"{app.url}/models", headers=BROWSER)
    assert posted.json().keys() == {"error"}
    # It is no page of the app.
    assert get(app, "/embeddings", **BROWSER).json().keys() == {"error"}


def test_probes_are_answered_beside_the_app(app: Web) -> None:
    assert get(app, "/livez", **BROWSER).json() == {"status": "alive"}


@needs_nginx
def test_the_shipped_proxy_passes_the_app_on(app: Web, tmp_path: Path) -> None:
    with (
        running_nginx(tmp_path, [app.port, app.port]) as proxy,
        httpx.Client(base_url=proxy.url, verify=proxy.tls) as browser,
    ):
        page = browser.get("/chat/1", headers=BROWSER)
        assert (page.status_code, page.text) == (200, INDEX)
        assert page.headers["content-encoding"] == "gzip"
        again = browser.get("/chat/1", headers=BROWSER | {"if-none-match": page.headers["etag"]})
        assert again.status_code == 304
        script = browser.get(START, headers={"accept-encoding": "gzip"})
        assert (script.text, script.headers["cache-control"]) == (START_SCRIPT, IMMUTABLE)
        assert script.headers["content-encoding"] == "gzip"
        assert browser.get("/nothing", headers=BROWSER).status_code == 404
        assert browser.get("/nothing").json() == NOT_FOUND


def test_files_do_not_count_towards_the_limit_of_a_client(app: Web) -> None:
    """A page has dozens of them, and a network may have many people behind one address."""
    with httpx.Client(base_url=app.url) as browser:
        codes = {browser.head("/icon.svg").status_code for _ in range(1_100)}
    assert codes == {200}


def test_the_routes_of_mails_and_links_are_left_to_the_app(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    """Addresses that the service itself sends people to."""
    settings.WEB_APP = True
    named = ["/verify-email", "/reset-password", "/forgot-password", "/invitations", "/connectors"]
    settings.WEB_APP_DIR = str(write_build(tmp_path, [*named, "/shared/[token]"]))
    for path in (*named, "/shared/abc.def"):
        response = client.get(f"{path}?token=x", headers=BROWSER)
        assert (response.status_code, response.content.decode()) == (200, INDEX)
