"""A client that holds every answer of `/v1` against the interface's own OpenAPI document."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import httpx
import jsonschema_rs

from common.ids import REQUEST_ID
from publicapi.v1 import openapi
from publicapi.v1.app import is_public

# What answers where the document names no operation.
UNDESCRIBED = {400: "invalid_host", 404: "not_found", 405: "method_not_allowed"}


def client(url: str, **options: Any) -> httpx.Client:
    """A client of the running service; httpx's own options.

    An answer that is not as published raises AssertionError where it is read: a whole one at its
    end, a stream at the event.
    """
    return httpx.Client(base_url=url, timeout=20, transport=CheckedTransport(), **options)


class CheckedTransport(httpx.HTTPTransport):
    """Checks what comes in while it is read, so that a stream stays one."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        path = request.url.path
        if not is_public(path):
            return response
        assert isinstance(response.stream, httpx.SyncByteStream)
        check_body = check_head(request.method, path, response)
        response.stream = CheckedStream(response.stream, check_body)
        return response


class CheckedStream(httpx.SyncByteStream):
    """A body of which each part that is complete in itself is checked."""

    def __init__(self, stream: httpx.SyncByteStream, check: "CheckBody") -> None:
        self._stream = stream
        self._check = check

    def __iter__(self) -> Iterator[bytes]:
        body = b""
        for part in self._stream:
            body = self._check(body + part, False)
            yield part
        assert self._check(body, True) == b"", "The answer ends in the middle."

    def close(self) -> None:
        self._stream.close()


# Takes what has come and not been checked, and whether that is all; returns what is still to check.
CheckBody = Callable[[bytes, bool], bytes]


def check_head(method: str, path: str, response: httpx.Response) -> CheckBody:
    """Check status and headers; returns what checks the body. Raises AssertionError."""
    request_id = response.headers["x-request-id"]
    assert REQUEST_ID.fullmatch(request_id)
    if method == "OPTIONS" and response.status_code == 204:
        return _no_body
    operation = _operation("GET" if method == "HEAD" else method, path)
    described = operation["responses"] if operation else _undescribed()
    expected = described.get(str(response.status_code))
    assert expected, f"{method} {path} answers {response.status_code}, which is not published."
    _check_headers(expected["headers"], response.headers)
    media = response.headers["content-type"].partition(";")[0]
    assert media in expected["content"], f"{method} {path} answers {media}, which is not published."
    if method == "HEAD":
        return _no_body
    return _READERS[media](json.dumps(expected["content"][media]["schema"]))


def _check_headers(described: dict[str, Any], headers: httpx.Headers) -> None:
    for name, header in described.items():
        value: str | int | None = headers.get(name)
        if value is None:
            assert not header.get("required"), f"The header {name} is missing."
            continue
        if header["schema"].get("type") == "integer":
            value = int(value)
        _validator(json.dumps(header["schema"])).validate(value)


def _no_body(body: bytes, ended: bool) -> bytes:
    assert body == b""
    return b""


def _whole(read: Callable[[bytes], Any], schema: str) -> CheckBody:
    def check(body: bytes, ended: bool) -> bytes:
        if not ended:
            return body
        _validator(schema).validate(read(body))
        return b""

    return check


def _events(schema: str) -> CheckBody:
    def check(body: bytes, ended: bool) -> bytes:
        *events, rest = body.split(b"\n\n")
        for event in events:
            if event in (b"data: [DONE]", b": keep-alive"):
                continue
            assert event.startswith(b"data: ")
            _validator(schema).validate(json.loads(event.removeprefix(b"data: ")))
        return rest

    return check


_READERS: dict[str, Callable[[str], CheckBody]] = {
    "application/json": partial(_whole, json.loads),
    "text/csv": partial(_whole, bytes.decode),
    "text/event-stream": _events,
}


# --- The document -------------------------------------------------------------------------------


@cache
def _published() -> dict[str, Any]:
    return openapi.document()


@cache
def _operation(method: str, path: str) -> dict[str, Any] | None:
    for template, operations in _published()["paths"].items():
        if re.fullmatch(re.sub(r"{\w+}", ".+", template), path, re.DOTALL):
            operation: dict[str, Any] | None = operations.get(method.lower())
            return operation
    return None


@cache
def _undescribed() -> dict[str, Any]:
    return {
        str(status): {
            "headers": {},
            "content": {
                "application/json": {
                    "schema": {
                        "$ref": "#/components/schemas/ErrorAnswer",
                        "properties": {"error": {"properties": {"code": {"const": code}}}},
                    }
                }
            },
        }
        for status, code in UNDESCRIBED.items()
    }


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """For a schema written as JSON; references lead into the document."""
    components = _published()["components"]
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": components})
