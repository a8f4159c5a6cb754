"""Bodies that are too long for Django, on the running service."""

import re
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings

from server.body_limit import MAX_REQUEST_BYTES
from tests.service import WEB_APP, Web

PATHS = ["/api/auth/login", "/api/nothing", "/admin/login/", "/"]


@pytest.fixture
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=20) as http:
        yield http


def in_parts(size: int) -> Iterator[bytes]:
    """A body without an announced length."""
    for sent in range(0, size, 100_000):
        yield b" " * min(100_000, size - sent)


def assert_refused(response: httpx.Response) -> None:
    assert response.status_code == 413
    if response.request.url.path.startswith("/admin/"):
        assert response.text == "The body is larger than 2 MB."
    else:
        assert response.json() == {
            "detail": "The body is larger than 2 MB.",
            "code": "payload_too_large",
        }
    assert re.fullmatch(r"req_[0-9a-f]{32}", response.headers["x-request-id"])
    assert response.headers["connection"] == "close"


def test_an_accepted_body_is_kept_in_memory() -> None:
    assert settings.FILE_UPLOAD_MAX_MEMORY_SIZE > MAX_REQUEST_BYTES


@pytest.mark.parametrize("path", PATHS)
def test_an_announced_body_over_the_limit_is_refused(http: httpx.Client, path: str) -> None:
    assert_refused(http.post(path, content=b" " * (MAX_REQUEST_BYTES + 1)))


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_grows_over_the_limit_is_refused(http: httpx.Client, path: str) -> None:
    assert_refused(http.post(path, content=in_parts(MAX_REQUEST_BYTES + 1)))


def test_a_body_at_the_limit_is_django_s(http: httpx.Client) -> None:
    announced = http.post("/api/nothing", content=b" " * MAX_REQUEST_BYTES)
    assert announced.status_code == 404
    assert http.post("/api/nothing", content=in_parts(MAX_REQUEST_BYTES)).status_code == 411


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("parameter", ["a*=no-such-charset''b", f"a*{'1' * 5000}*=b"])
def test_a_content_type_that_cannot_be_read_is_refused(
    http: httpx.Client, path: str, parameter: str
) -> None:
    headers = {"Content-Type": f"application/json; {parameter}"}
    response = http.post(path, content=b"{}", headers=headers)
    assert response.status_code == 400
    assert "The Content-Type cannot be read." in response.text
    too_long = b" " * (MAX_REQUEST_BYTES + 1)
    assert_refused(http.post(path, content=too_long, headers=headers))


def test_the_callers_request_id_is_kept(http: httpx.Client) -> None:
    body = b" " * (MAX_REQUEST_BYTES + 1)
    response = http.post("/api/nothing", content=body, headers={"X-Request-ID": "mine"})
    assert response.headers["x-request-id"] == "mine"


def test_a_web_app_can_read_the_refusal(http: httpx.Client) -> None:
    body = b" " * (MAX_REQUEST_BYTES + 1)
    response = http.post("/api/auth/login", content=body, headers={"origin": WEB_APP})
    assert_refused(response)
    assert response.headers["access-control-allow-origin"] == WEB_APP
