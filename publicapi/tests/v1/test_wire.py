"""The client of these tests sees where an answer is not as published."""

import json
from typing import Any

import httpx
import jsonschema_rs
import pytest

from publicapi.tests.v1.wire import CheckBody, check_head

REQUEST_ID = f"req_{'0' * 32}"
HEADERS = {
    "x-request-id": REQUEST_ID,
    "access-control-allow-origin": "*",
    "x-ratelimit-limit": "120",
    "x-ratelimit-remaining": "119",
    "x-ratelimit-window": "60",
    "content-type": "application/json",
}
USAGE = {
    "prompt_tokens": 1,
    "completion_tokens": 1,
    "total_tokens": 2,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
COMPLETION = {
    "object": "chat.completion",
    "id": "chatcmpl-1",
    "created": 1,
    "model": "gpt-6-luna",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Fine.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}
ERROR = {
    "error": {
        "message": "No.",
        "type": "insufficient_quota",
        "code": "insufficient_balance",
        "param": None,
    }
}


def head(
    status: int, headers: dict[str, str], method: str = "POST", path: str = "/v1/chat/completions"
) -> CheckBody:
    return check_head(method, path, httpx.Response(status, headers={**HEADERS, **headers}))


def chat(status: int, body: Any, **headers: str) -> None:
    head(status, headers)(json.dumps(body).encode(), True)


def stream(*events: str) -> bytes:
    check = head(200, {"content-type": "text/event-stream; charset=utf-8"})
    return check("".join(f"{event}\n\n" for event in events).encode(), False)


def changed(document: dict[str, Any], name: str, value: object) -> dict[str, Any]:
    return {**document, name: value}


def test_an_answer_as_published_is_let_through() -> None:
    chat(200, COMPLETION)
    chat(402, ERROR)


@pytest.mark.parametrize("name", COMPLETION)
def test_a_missing_field_is_seen(name: str) -> None:
    with pytest.raises(jsonschema_rs.ValidationError):
        chat(200, {key: value for key, value in COMPLETION.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [("object", "completion"), ("created", "now"), ("usage", None), ("choices", {}), ("id", 1)],
)
def test_a_wrong_value_is_seen(name: str, value: object) -> None:
    with pytest.raises(jsonschema_rs.ValidationError):
        chat(200, changed(COMPLETION, name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [("code", "out_of_money"), ("type", "api_error"), ("message", None), ("param", 5)],
)
def test_an_error_that_is_not_published_is_seen(name: str, value: object) -> None:
    with pytest.raises(jsonschema_rs.ValidationError):
        chat(402, {"error": changed(ERROR["error"], name, value)})


def test_a_status_that_is_not_published_is_seen() -> None:
    with pytest.raises(AssertionError, match="answers 418"):
        head(418, {})
    with pytest.raises(AssertionError, match="answers 200"):
        head(200, {}, path="/v1/responses")


def test_a_kind_of_body_that_is_not_published_is_seen() -> None:
    with pytest.raises(AssertionError, match="text/html"):
        head(200, {"content-type": "text/html"})


@pytest.mark.parametrize("name", ["x-ratelimit-remaining", "access-control-allow-origin"])
def test_a_missing_header_is_seen(name: str) -> None:
    without = {key: value for key, value in HEADERS.items() if key != name}
    with pytest.raises(AssertionError, match=name):
        check_head("POST", "/v1/chat/completions", httpx.Response(200, headers=without))


def test_a_wrong_header_is_seen() -> None:
    with pytest.raises(jsonschema_rs.ValidationError):
        head(200, {"x-ratelimit-remaining": "-1"})


def test_a_429_says_when() -> None:
    with pytest.raises(AssertionError, match="retry-after"):
        head(429, {})


def test_each_event_of_a_stream_is_checked_as_soon_as_it_is_whole() -> None:
    choice = {"index": 0, "delta": {"content": "a"}, "logprobs": None, "finish_reason": None}
    chunk = changed(COMPLETION, "object", "chat.completion.chunk")
    chunk = changed(chunk, "choices", [choice])
    event, error = f"data: {json.dumps(chunk)}", f"data: {json.dumps(ERROR)}"
    assert stream(event, ": keep-alive", error, "data: [DONE]") == b""
    assert head(200, {"content-type": "text/event-stream"})(b"data: {", False) == b"data: {"
    with pytest.raises(jsonschema_rs.ValidationError):
        stream(event, f"data: {json.dumps(COMPLETION)}")
    with pytest.raises(AssertionError):
        stream(event, "event: error")
