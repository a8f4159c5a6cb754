"""API_HOST: a host that serves `/v1` and nothing else, to HTTP and to sockets."""

from collections.abc import Iterator
from http.client import HTTPConnection

import httpx
import pytest
from pytest_django import DjangoDbBlocker
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from publicapi.tests.v1 import wire
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.errors import refusal
from simulator.process import RunningSimulator
from tests.service import Web, running_web

HOST = "api.example.com"


@pytest.fixture(scope="module")
def own(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process with a host for `/v1`, beside the hosts it serves everything on."""
    with django_db_blocker.unblock(), running_web(simulator, API_HOST="Api.example.com") as web:
        yield web


def get(web: Web, path: str, host: str, **headers: str) -> httpx.Response:
    with wire.client(web.url) as http:
        return http.get(path, headers={"Host": host, **headers})


@pytest.mark.parametrize(
    "host", [HOST, "API.EXAMPLE.COM", f"{HOST}:8443", f"{HOST}.", f"{HOST}.:1"]
)
def test_its_host_serves_the_interface_however_the_name_is_written(own: Web, host: str) -> None:
    response = get(own, "/v1/models", host)
    assert response.status_code == 200
    assert response.json()["object"] == "list"


def test_a_call_on_its_host_is_answered(own: Web, customer: NewCustomer) -> None:
    alice = customer()
    with wire.client(own.url, headers={"Host": HOST, **alice.headers}) as http:
        response = http.post("/v1/chat/completions", json=alice.body(steer={"text": "Fine."}))
    assert response.json()["choices"][0]["message"]["content"] == "Fine."


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/auth/me",
        "/api/keys",
        "/admin/",
        "/admin/login/",
        "/static/admin/css/base.css",
        "/openapi.json",
        "/v2/models",
        "/v1models",
        "//v1/models",
        "/V1/models",
        "/../v1/models",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PROPFIND"])
def test_nothing_else_is_there(own: Web, method: str, path: str) -> None:
    request = httpx.Request(method, own.url, headers={"Host": HOST})
    # Exactly so: httpx itself would put some of these paths in order.
    request.extensions["target"] = path.encode()
    with httpx.Client() as http:
        error = refusal(http.send(request), 404, "not_found", keyed=False)
    is_meant = path.lower().endswith("/models")
    assert ("Use `GET /v1/models`" if is_meant else "`/v1` and nothing else") in error["message"]


def test_a_page_may_read_that_nothing_else_is_there(own: Web) -> None:
    response = httpx.options(f"{own.url}/api/auth/me", headers={"Host": HOST})
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "*"


def test_the_other_hosts_serve_both_interfaces(own: Web) -> None:
    assert get(own, "/v1/models", "localhost").status_code == 200
    assert get(own, "/api/auth/me", "localhost").status_code == 401
    assert get(own, "/api/auth/me", "localhost").json()["detail"]


@pytest.mark.parametrize(
    "host",
    ["example.com", f"a.{HOST}", f"{HOST}.example.com", f"x{HOST}", f"{HOST},localhost", "", "*"],
)
def test_any_other_host_is_refused_by_both_interfaces(own: Web, host: str) -> None:
    refusal(get(own, "/v1/models", host), 400, "invalid_host", keyed=False)
    elsewhere = get(own, "/api/auth/me", host)
    assert (elsewhere.status_code, elsewhere.json()) == (
        400,
        {"detail": "This host is not served here.", "code": "invalid_host"},
    )


def test_a_forwarded_host_changes_nothing(own: Web) -> None:
    forwarded = {"X-Forwarded-Host": HOST}
    refusal(get(own, "/v1/models", "example.com", **forwarded), 400, "invalid_host", keyed=False)
    assert get(own, "/api/auth/me", "localhost", **forwarded).status_code == 401
    back = {"X-Forwarded-Host": "localhost"}
    refusal(get(own, "/api/auth/me", HOST, **back), 404, "not_found", keyed=False)


@pytest.mark.parametrize("hosts", [(HOST, "localhost"), ("localhost", HOST), (HOST, HOST)])
@pytest.mark.parametrize("path", ["/v1/models", "/api/auth/me"])
def test_two_hosts_are_none(own: Web, hosts: tuple[str, str], path: str) -> None:
    connection = HTTPConnection("127.0.0.1", own.port)
    connection.putrequest("GET", path, skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


@pytest.mark.parametrize("path", ["/", "/v1/models", "/ws/conversations"])
def test_no_socket_is_opened_on_its_host(own: Web, path: str) -> None:
    url = f"ws://127.0.0.1:{own.port}{path}"
    with pytest.raises(InvalidStatus) as refused, connect(url, additional_headers={"Host": HOST}):
        pass
    assert refused.value.response.status_code == 400
