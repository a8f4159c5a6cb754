"""Every response has its security headers, whoever writes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from conversations.tests.rows import talk
from simulator.process import RunningSimulator
from tests.personas import PASSWORD, authorization, new_key, new_user
from tests.service import WEB_APP, Web, running_web

API_HOST = "api.example.com"
NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
HSTS = "max-age=31536000; includeSubDomains"
HANDSHAKE = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}
PREFLIGHT = {"origin": WEB_APP, "access-control-request-method": "POST"}
TOO_LONG = b" " * 2_000_001

pytestmark = pytest.mark.usefixtures("committed")


@contextmanager
def production(simulator: RunningSimulator, folder: Path, **environment: str) -> Iterator[Web]:
    """A web process in production, behind a proxy that ends TLS."""
    with running_web(
        simulator,
        DJANGO_SETTINGS_MODULE="config.settings.prod",
        SECRET_KEY="a-secret-of-production-0123456789abcdef",
        API_KEY_PEPPER="a-pepper-of-production-0123456789abcdef",
        ALLOWED_HOSTS="127.0.0.1,app.example.com",
        OUTPUTS_DIR=str(folder / "outputs"),
        UPLOADS_DIR=str(folder / "uploads"),
        EMAIL_URL="smtp+tls://127.0.0.1",
        DEFAULT_FROM_EMAIL="test@example.com",
        PUBLIC_BASE_URL="https://app.example.com:8443",
        WEB_APP_URL="https://app.example.com",
        SIMULATED_PROVIDERS="",
        SIMULATOR_URL="",
        GOOGLE_JWKS_URL="https://www.googleapis.com/oauth2/v3/certs",
        BEHIND_TLS_PROXY="1",
        TRUSTED_PROXY_HOPS="1",
        **environment,
    ) as web:
        yield web


def answers(web: Web) -> Iterator[httpx.Response]:
    """Of everything that writes responses."""
    alice = new_user("alice", plan="max")
    token = authorization(alice)
    _, raw_key = new_key(alice)
    key = {"Authorization": f"Bearer {raw_key}"}
    conversation = f"/api/conversations/{talk(alice, 'How deep?', 'Very.').pk}"
    with httpx.Client(base_url=web.url) as http:
        style = http.get("/admin/login/").text.split('<link href="')[1].split('"')[0]
        yield http.get("/v1/models")
        yield http.get("/v1/usage", headers=key)
        yield http.get("/v1/nothing")
        yield http.options("/v1/models", headers=PREFLIGHT)
        yield http.post("/v1/chat/completions", json={})
        yield http.get("/anything", headers={"host": API_HOST})
        yield http.get("/v1/models", headers={"host": "else.example"})
        yield http.get("/api/auth/me", headers=token)
        yield http.get("/api/auth/me")
        yield http.post("/api/auth/login", json={"email": alice.email, "password": PASSWORD})
        yield http.post("/api/keys", json={"name": "new"}, headers=token)
        yield http.get("/api/billing/wallet", headers=token)
        yield http.get(conversation, headers=token)
        yield http.get(f"{conversation}/export", headers=token)
        yield http.options("/api/keys", headers=PREFLIGHT)
        yield http.get("/api/nothing")
        yield http.get("/api/keys", headers={"host": "else.example"})
        yield http.post("/api/nothing", content=TOO_LONG)
        yield http.get("/files/a/b")
        yield http.get("/livez")
        yield http.get("/readyz")
        yield http.get("/openapi.json")
        yield http.get("/api/council/ws/x/y", headers=HANDSHAKE)
        yield http.get("/admin/")
        yield http.get("/admin/login/")
        yield http.get(style)
        yield http.get("/")


def test_every_response_is_guarded(simulator: RunningSimulator) -> None:
    seen = set()
    with running_web(simulator, API_HOST=API_HOST) as web:
        for answer in answers(web):
            headers, path = answer.headers, answer.request.url.path
            assert headers["x-content-type-options"] == "nosniff", path
            assert headers["referrer-policy"] == "same-origin", path
            assert "frame-ancestors 'none'" in headers["content-security-policy"], path
            assert "server" not in headers, path
            assert "strict-transport-security" not in headers, path
            if path.startswith("/static/"):
                assert "public" in headers["cache-control"]
            else:
                assert "no-store" in headers["cache-control"], path
            assert len(headers.get_list("cache-control")) == 1, path
            if path.startswith("/admin/"):
                assert headers["x-frame-options"] == "DENY"
            else:
                assert headers["content-security-policy"] == NO_PAGE, path
            seen.add(answer.status_code)
    assert {200, 201, 204, 302, 400, 401, 403, 404, 413} <= seen


def test_in_production_browsers_are_told_to_use_tls(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    with (
        production(simulator, tmp_path, API_HOST=API_HOST) as web,
        httpx.Client(base_url=web.url, headers={"x-forwarded-proto": "https"}) as http,
    ):
        for path in ("/v1/models", "/v1/nothing", "/api/auth/me", "/admin/login/", "/files/a/b"):
            assert http.get(path).headers["strict-transport-security"] == HSTS, path
        on_its_own_host = http.get("/v1/models", headers={"host": API_HOST})
        assert on_its_own_host.headers["strict-transport-security"] == HSTS
        refused = http.post("/api/nothing", content=TOO_LONG)
        assert refused.headers["strict-transport-security"] == HSTS
        handshake = http.get("/api/council/ws/x/y", headers=HANDSHAKE)
        assert handshake.headers["strict-transport-security"] == HSTS


def test_in_production_plain_http_is_sent_to_https(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    plain = {"x-forwarded-proto": "http", "host": "app.example.com:80"}
    with (
        production(simulator, tmp_path, API_HOST=API_HOST) as web,
        httpx.Client(base_url=web.url) as http,
    ):
        for method, path in (
            ("GET", "/admin/login/?a=%2F&b=1"),
            ("GET", "/files/a%2Fb%20c"),
            ("POST", "/api/auth/login"),
        ):
            answer = http.request(method, path, headers=plain)
            assert answer.status_code == 308
            assert answer.headers["location"] == f"https://app.example.com:8443{path}"
        own_host = http.get("/v1/models", headers={**plain, "host": API_HOST})
        assert own_host.headers["location"] == f"https://{API_HOST}:8443/v1/models"
        unknown = http.get("/api/auth/me", headers={**plain, "host": "else.example"})
        assert unknown.status_code == 400
        # What comes past the proxy, as a health check does.
        assert http.get("/v1/models").status_code == 200


def test_who_comes_by_the_proxy_is_no_probe_and_is_told_nothing(
    simulator: RunningSimulator, tmp_path: Path
) -> None:
    by_proxy = {"x-forwarded-proto": "https", "accept": "text/html"}
    with production(simulator, tmp_path) as web:
        for path in ("/livez", "/readyz"):
            answer = httpx.get(f"{web.url}{path}", headers=by_proxy)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            assert "status" in httpx.get(f"{web.url}{path}").json()


def test_nobody_is_believed_what_only_a_proxy_may_say(web: Web) -> None:
    for protocol in ("http", "https"):
        answer = httpx.get(f"{web.url}/v1/models", headers={"x-forwarded-proto": protocol})
        assert answer.status_code == 200
        assert "strict-transport-security" not in answer.headers
