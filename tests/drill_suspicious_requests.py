"""What Django calls suspicious, sent to every route: a 4xx in the right envelope, no traceback."""

import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver
from pytest_django import Settings

from common.ids import uuid7
from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.operators import new_operator
from tests.personas import authorization, new_user
from tests.service import Web, running_web

# One more than DATA_UPLOAD_MAX_NUMBER_FIELDS.
FIELDS = "&".join(f"f{number}=1" for number in range(1001))
# Pages for browsers, in development alone.
PAGES = ("/admin/", "/docs", "/redoc", "/openapi.json")
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n1\r\n'
MANY_PARTS = PART % b"f" * 1001 + b"--b--\r\n"
BROKEN_PART = PART % (b"a" * 5000)


def routes(patterns: list[Any], prefix: str = "/") -> Iterator[str]:
    """A path for each pattern, with something in the place of each variable."""
    for each in patterns:
        path = prefix + filled(str(each.pattern))
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, path)
        else:
            yield path


def filled(pattern: str) -> str:
    pattern = re.sub(r"<uuid:\w+>", str(uuid7()), pattern)
    pattern = re.sub(r"<int:\w+>", "1", pattern)
    pattern = re.sub(r"\(\?P<app_label>[^)]*\)", "auth", pattern)
    pattern = re.sub(r"<[^>]*>|\(\?P<\w+>[^)]*\)", "x", pattern)
    return pattern.replace("\\Z", "").strip("^$")


PATHS = sorted({*routes(get_resolver("config.urls").url_patterns), "/nothing", "/v1", "/static/x"})


@pytest.fixture(params=["stranger", "operator"])
def client(request: pytest.FixtureRequest, db: None) -> Client:
    """Of somebody who may do nothing, or everything: in the admin and with a token in `/api`."""
    client = Client(raise_request_exception=False)
    if request.param == "operator":
        operator = new_operator()
        client.force_login(operator.user)
        client.defaults["HTTP_AUTHORIZATION"] = authorization(operator.user)["Authorization"]
    return client


def assert_refused_in_its_envelope(path: str, response: Any) -> None:
    """Or not refused at all, by those who do not look."""
    assert response.status_code < 500, path
    if response.streaming:
        return
    assert b"Traceback" not in response.content, path
    if response.status_code >= 400 and not path.startswith(PAGES):
        assert {"detail", "code"} <= response.json().keys(), path


def test_there_are_routes_to_try() -> None:
    assert len(PATHS) > 100
    assert "/api/auth/login" in PATHS


def test_no_route_fails_for_too_many_parameters(client: Client) -> None:
    seen = set()
    for path in PATHS:
        for method in ("GET", "POST"):
            response = client.generic(method, f"{path}?{FIELDS}", content_type="application/json")
            assert_refused_in_its_envelope(path, response)
            seen.add(response.status_code)
    assert 400 in seen or 401 in seen


@pytest.mark.parametrize(
    ("media_type", "body"),
    [(URLENCODED, FIELDS), (MULTIPART, MANY_PARTS), (MULTIPART, BROKEN_PART)],
    ids=["many fields", "many parts", "a broken part"],
)
def test_no_route_fails_for_a_form(client: Client, media_type: str, body: str | bytes) -> None:
    for path in PATHS:
        assert_refused_in_its_envelope(path, client.post(path, body, content_type=media_type))


def test_no_route_fails_for_a_body_over_django_s_limit(client: Client, settings: Settings) -> None:
    """BodyLimit stands in front of it, but another server may not have it."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    for path in PATHS:
        response = client.post(path, b"a=" + b"1" * 20, content_type=URLENCODED)
        assert_refused_in_its_envelope(path, response)


def test_too_many_parameters_are_a_malformed_request(client: Client) -> None:
    response = client.get(f"/api/conversations?{FIELDS}", headers=authorization(new_user("bob")))
    assert response.status_code == 400
    assert response.json()["code"] == "malformed_request"


def test_the_admin_refuses_too_many_fields_in_its_own_way(db: None) -> None:
    client = Client(raise_request_exception=False)
    many_parts = client.post("/admin/login/", MANY_PARTS, content_type=MULTIPART)
    for response in (client.get(f"/admin/login/?{FIELDS}"), many_parts):
        assert response.status_code == 400
        assert response["Content-Type"].startswith("text/html")


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("body", [b"", b"1"], ids=["no body", "a body"])
@pytest.mark.parametrize("line", ["GET *", "POST *", "OPTIONS *", "CONNECT x:1"])
def test_a_target_that_is_no_path_is_answered_as_any_other(
    web: Web, line: str, body: bytes
) -> None:
    head = f"{line} HTTP/1.1\r\nHost: {LOOPBACK}\r\nConnection: close\r\n"
    with socket.create_connection((LOOPBACK, web.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = connection.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 4"), answer


@pytest.mark.usefixtures("committed")
def test_in_development_too_errors_are_answered_as_in_production(
    simulator: RunningSimulator,
) -> None:
    with (
        running_web(simulator, DJANGO_SETTINGS_MODULE="config.settings.dev") as web,
        httpx.Client(base_url=web.url) as http,
    ):
        for path in ("/", "/nothing", "/api/nothing", "/static/nothing.css"):
            answer = http.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
        assert http.get(f"/api/conversations?{FIELDS}").json()["code"] == "malformed_request"
        for path in ("/admin/login/", "/docs", "/api/conversations/shared/x"):
            answer = http.get(f"{path}?{FIELDS}")
            assert answer.status_code in (200, 400, 404), path
            assert "Traceback" not in answer.text
        page = http.get("/admin/login/")
        [style, *_] = re.findall(r'href="(/static/[^"]+\.css)"', page.text)
        assert http.get(style).status_code == 200
