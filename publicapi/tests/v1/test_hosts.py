"""Which names the service answers to."""

import httpx
import pytest

from publicapi.tests.v1.errors import refusal


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example.com",
        "localhost.example.com",
        "127.0.0.1.example.com",
        "127.0.0.2",
        "[::1]",
        "",
        "a b",
        "localhost@elsewhere.example.com",
        "localhost/../elsewhere",
        "<script>",
        "é.example.com",
        "a" * 5000,
    ],
    ids=lambda host: host[:30] or "empty",
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/models"), ("POST", "/v1/chat/completions"), ("OPTIONS", "/v1/models")],
)
def test_an_unknown_host_is_refused(http: httpx.Client, method: str, path: str, host: str) -> None:
    headers = [(b"Host", host.encode("latin-1"))]
    refusal(http.request(method, path, headers=headers), 400, "invalid_host", keyed=False)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost:1", "127.0.0.1:80"])
def test_a_known_host_is_served_on_any_port(http: httpx.Client, host: str) -> None:
    assert http.get("/v1/models", headers={"Host": host}).status_code == 200


def test_a_forwarded_host_is_not_believed(http: httpx.Client) -> None:
    headers = {"Host": "elsewhere.example.com", "X-Forwarded-Host": "localhost"}
    refusal(http.get("/v1/models", headers=headers), 400, "invalid_host", keyed=False)
