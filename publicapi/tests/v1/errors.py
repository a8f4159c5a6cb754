"""What every error of `/v1` has in common."""

import re
from typing import Any

import httpx

from common.ids import REQUEST_ID

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
# The parameter that is to blame, where it is one.
PARAMS = {
    "invalid_body": re.compile(r"None|[a-z_]+(\[\d+\]|\.[a-z_]+)*"),
    "invalid_messages": re.compile("messages"),
    "invalid_input": re.compile(r"input(\[\d+\])*|dimensions"),
    "input_too_long": re.compile(r"messages|input(\[\d+\])?|prompt"),
    "content_blocked": re.compile("messages|prompt"),
    "unsupported_parameter": re.compile(r"(tools|response_format|messages)(\[\d+\]|\.[a-z_]+)*"),
    "unsupported_encoding": re.compile("encoding_format"),
    "invalid_range": re.compile("None|from|to"),
    "model_not_found": re.compile("model"),
    "model_not_allowed": re.compile("model"),
    "key_not_found": re.compile("key"),
    "provider_unavailable": re.compile("model"),
}
NO_PARAM = re.compile("None")
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
    assert REQUEST_ID.fullmatch(response.headers["x-request-id"])
    assert ("www-authenticate" in response.headers) == (status == 401)
    assert [name in response.headers for name in RATE_HEADERS] == [keyed] * 3
    body = response.json()
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert (error["code"], error["type"]) == (code, TYPES[status])
    assert PARAMS.get(code, NO_PARAM).fullmatch(str(error["param"])), error
    assert isinstance(error["message"], str)
    assert error["message"]
    return error
