"""What every error of `/v1` has in common."""

import re
from typing import Any

import httpx

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    502: "api_error",
    503: "api_error",
}
RATE_HEADERS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-window")


def refusal(
    response: httpx.Response, status: int, code: str, *, keyed: bool = True
) -> dict[str, Any]:
    """The error of a response, checked for all that errors share.

    `keyed`: the request got past the key, so the answer carries the rate headers.
    """
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["access-control-allow-origin"] == "*"
    assert re.fullmatch(r"req_[0-9a-f]{32}", response.headers["x-request-id"])
    assert [name in response.headers for name in RATE_HEADERS] == [keyed] * 3
    body = response.json()
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert (error["code"], error["type"], error["param"]) == (code, TYPES[status], None)
    assert isinstance(error["message"], str)
    assert error["message"]
    return error
