"""Any web page may call `/v1` and read every answer, errors and streams too; without cookies."""

import httpx
import pytest

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import Customer

ORIGIN = {"Origin": "https://app.example.com"}
WANTED = (
    "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-os,"
    "x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime"
)
EXPOSED = {
    "x-request-id",
    "retry-after",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-window",
    "idempotency-replayed",
    "x-idempotency-replayed",
    "x-should-retry",
    "x-ignored-parameters",
}


def preflight(http: httpx.Client, path: str, wanted: str | None = WANTED) -> httpx.Response:
    headers = {**ORIGIN, "Access-Control-Request-Method": "POST"}
    if wanted is not None:
        headers["Access-Control-Request-Headers"] = wanted
    return http.options(path, headers=headers)


def assert_readable(response: httpx.Response) -> None:
    """A page of any origin may read the answer and the headers that clients use."""
    assert response.headers["access-control-allow-origin"] == "*"
    exposed = response.headers["access-control-expose-headers"]
    assert {name.strip() for name in exposed.split(",")} == EXPOSED
    assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/responses", "/v1"])
def test_a_preflight_needs_no_key_and_echoes_the_wanted_headers(
    http: httpx.Client, path: str
) -> None:
    response = preflight(http, path)
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["access-control-allow-headers"] == WANTED
    methods = response.headers["access-control-allow-methods"].split(", ")
    assert {"GET", "POST", "OPTIONS"} <= set(methods)
    assert int(response.headers["access-control-max-age"]) >= 600
    assert response.headers["vary"] == "Access-Control-Request-Headers"
    assert "x-request-id" in response.headers
    assert_readable(response)


def test_a_preflight_that_wants_no_headers_is_granted_none(http: httpx.Client) -> None:
    response = preflight(http, "/v1/models", wanted=None)
    assert response.status_code == 204
    assert "access-control-allow-headers" not in response.headers


def test_an_answer_is_readable(alice: Customer) -> None:
    assert_readable(alice.post(json=alice.body(), headers=ORIGIN))


def test_a_stream_is_readable(alice: Customer) -> None:
    response = alice.post(json=alice.body(stream=True), headers=ORIGIN)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert_readable(response)


def test_the_model_list_is_readable(http: httpx.Client) -> None:
    assert_readable(http.get("/v1/models", headers=ORIGIN))


def test_refusals_are_readable(customer: NewCustomer, http: httpx.Client) -> None:
    alice = customer(cap=0)
    refusals = [
        http.post("/v1/chat/completions", json={}, headers=ORIGIN),
        alice.post(content=b"{", headers=ORIGIN),
        alice.post(json=alice.body(), headers=ORIGIN),
        alice.post(json=alice.body(model="no-such-model"), headers=ORIGIN),
        http.get("/v1/responses", headers=ORIGIN),
        http.get("/v1/chat/completions", headers=ORIGIN),
        http.get("/v1/models", headers={**ORIGIN, "Host": "elsewhere.example.com"}),
    ]
    assert [response.status_code for response in refusals] == [401, 400, 402, 404, 404, 405, 400]
    for response in refusals:
        assert_readable(response)
