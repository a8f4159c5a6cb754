"""What the shipped proxy answers by itself: errors that a program reads, and the way to TLS."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from devserver.ports import LOOPBACK, free_port
from tests.compose import services
from tests.nginx import Proxy, directive, needs_nginx, running_nginx

pytestmark = needs_nginx

V1 = "/v1/chat/completions"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """One without a process behind it."""
    first = free_port()
    folder = tmp_path_factory.mktemp("nginx")
    with running_nginx(folder, [first, free_port(but={first})]) as running:
        yield running


def sent(proxy: Proxy, path: str, length: int = 1) -> httpx.Response:
    """The answer to a POST with a body of that length."""
    body, headers = b" " * length, {"X-Request-Id": "req_1"}
    return httpx.post(f"{proxy.url}{path}", content=body, headers=headers, verify=proxy.tls)


def test_a_body_above_every_limit_is_refused_in_the_envelope_of_its_interface(proxy: Proxy) -> None:
    above = int(directive("http {", "client_max_body_size")[:-1]) * 1024 * 1024 + 1
    answers = [sent(proxy, path, above) for path in ("/api/uploads", V1)]
    for answer in answers:
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-request-id"] == "req_1"
    of_api, of_v1 = (answer.json() for answer in answers)
    assert of_api == {"detail": "The body is too large.", "code": "payload_too_large"}
    assert of_v1["error"] == {
        "message": "The body is too large.",
        "type": "invalid_request_error",
        "code": "payload_too_large",
        "param": None,
    }


def test_a_request_that_no_process_takes_is_refused_in_the_envelope_of_its_interface(
    proxy: Proxy,
) -> None:
    of_api, of_v1 = (sent(proxy, path) for path in ("/api/uploads", V1))
    for answer in (of_api, of_v1):
        assert answer.status_code == 502
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-request-id"] == "req_1"
    assert of_api.json()["code"] == of_v1.json()["error"]["code"] == "service_unavailable"
    assert of_v1.json()["error"]["type"] == "api_error"


def test_a_page_of_any_origin_reads_what_the_proxy_answers_under_v1(proxy: Proxy) -> None:
    of_api, of_v1 = (sent(proxy, path) for path in ("/api/uploads", V1))
    assert of_v1.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in of_api.headers


def test_who_is_not_answered_in_time_is_told_that_it_may_have_been_done(tmp_path: Path) -> None:
    with (
        socket.create_server((LOOPBACK, 0)) as silent,
        running_nginx(
            tmp_path,
            [silent.getsockname()[1]] * 2,
            {"proxy_read_timeout 620s": "proxy_read_timeout 1s"},
        ) as proxy,
    ):
        answer = sent(proxy, V1)
    assert answer.status_code == 504
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json()["error"]["code"] == "service_unavailable"
    assert "may have done what was asked" in answer.json()["error"]["message"]


def test_a_client_without_tls_is_sent_to_the_same_address_with_tls(proxy: Proxy) -> None:
    answer = httpx.post(f"{proxy.plain_url}/api/me?a=1")
    assert answer.status_code == 308
    assert answer.headers["location"] == "https://127.0.0.1/api/me?a=1"


@pytest.mark.parametrize(
    ("port", "place"),
    [("8443", ":8443"), ("127.0.0.1:8443", ":8443"), ("[::1]:443", ""), ("443", ""), (None, "")],
)
def test_compose_tells_the_proxy_the_port_at_which_it_is_reached(
    tmp_path: Path, port: str | None, place: str
) -> None:
    environ = {"HTTPS_PORT": port} if port else {}
    shell, option, command = services(environ)["proxy"]["command"]
    writing, _, starting = command.partition(" && ")
    assert starting == "exec nginx -g 'daemon off;'"
    # As compose reads it, and in a folder of this test.
    writing = writing.replace("$$", "$").replace(" /tmp/", f" {tmp_path}/")
    subprocess.run([shell, option, writing], check=True)
    first = free_port()
    with running_nginx(tmp_path, [first, free_port(but={first})]) as proxy:
        answer = httpx.get(f"{proxy.plain_url}/docs")
    assert answer.headers["location"] == f"https://127.0.0.1{place}/docs"
