"""The OpenAPI 3.1 document of `/v1`, built from its table of operations and its own types."""

from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import json

from common.errors import DomainError
from common.ids import REQUEST_ID
from publicapi.v1 import ignored
from publicapi.v1.authentication import KEY_LIMIT
from publicapi.v1.errors import ErrorAnswer, ModelNotFound, RateLimitExceeded, body, error_type
from publicapi.v1.operations import BEFORE_THE_KEY, OPERATIONS, Operation, Parameter

Schema = dict[str, Any]

TAG = "Public interface"
_COMPONENT = "#/components/schemas/{name}"
_RATE_HEADERS = {
    "x-ratelimit-limit": f"Requests that the key may make in a window: {KEY_LIMIT.requests}.",
    "x-ratelimit-remaining": "Requests that are left to the key now.",
    "x-ratelimit-window": f"The length of the window in seconds: {KEY_LIMIT.window}.",
}


def document() -> dict[str, Any]:
    """Paths and components of `/v1`; the caller adds the title and the rest."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "paths": paths,
        "components": {"schemas": _schemas(), "securitySchemes": {"apiKey": _API_KEY}},
    }


_API_KEY = {"type": "http", "scheme": "bearer", "description": "An API key: `mk_...`."}


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [TAG],
        "security": [{"apiKey": []}] if operation.needs_key else [{}, {"apiKey": []}],
        "parameters": [_parameter(parameter) for parameter in operation.parameters],
        "responses": {"200": _success(operation), **_refusals(operation)},
    }
    if operation.body:
        described["requestBody"] = {"required": True, "content": _json(_ref(operation.body))}
    return described


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.where,
        "description": parameter.description,
        "required": parameter.where == "path",
        "schema": parameter.schema,
    }


_IGNORED = {
    "description": "The parameters that were sent and have no effect, sorted; there where there "
    "are any.",
    "schema": {"type": "string", "pattern": ignored.PATTERN},
}


def _success(operation: Operation) -> dict[str, Any]:
    content = _json(_ref(operation.answer))
    if operation.events:
        event = {"oneOf": [_ref(operation.events), _ref(ErrorAnswer)]}
        content["text/event-stream"] = {"schema": event}
    if operation.csv:
        content["text/csv"] = {"schema": {"type": "string"}}
    headers = _headers(keyed=operation.needs_key)
    if operation.body:
        headers["idempotency-replayed"] = _flag("true", "the answer is that of an earlier request")
        headers["x-idempotency-replayed"] = _flag(
            "true",
            "the answer is that of a call whose client had gone before it had all of the answer",
        )
        headers[ignored.HEADER] = _IGNORED
    return {"description": operation.summary, "headers": headers, "content": content}


def _refusals(operation: Operation) -> dict[str, Any]:
    status = attrgetter("status")
    by_status = groupby(sorted(operation.refusals, key=status), key=status)
    return {str(status): _refusal(status, list(errors), operation) for status, errors in by_status}


def _refusal(status: int, errors: list[type[DomainError]], operation: Operation) -> dict[str, Any]:
    """The answer with one status. The rate headers are required where all its errors come after
    authentication."""
    known = operation.needs_key or status in (403, RateLimitExceeded.status)
    headers = _headers(keyed=known and not set(errors) & set(BEFORE_THE_KEY))
    headers["retry-after"] = {
        "description": "Seconds after which a repetition may help.",
        "required": status == RateLimitExceeded.status,
        "schema": {"type": "integer", "minimum": 1},
    }
    headers["x-should-retry"] = _flag("false", "a repetition cannot help")
    if operation.body:
        headers[ignored.HEADER] = _IGNORED
    if status == 401:
        headers["www-authenticate"] = {
            "description": "How to authenticate (RFC 6750).",
            "required": True,
            "schema": {"type": "string"},
        }
    detail = {
        "code": {"enum": sorted({error.code for error in errors})},
        "type": {"const": error_type(status)},
    }
    return {
        "description": "\n".join(f"- `{error.code}`: {error.message}" for error in errors),
        "headers": headers,
        "content": _json({**_ref(ErrorAnswer), "properties": {"error": {"properties": detail}}}),
    }


def _headers(*, keyed: bool) -> dict[str, Any]:
    """The headers of every answer; the rate headers are required where `keyed`."""
    headers: dict[str, Any] = {
        "x-request-id": {
            "description": "Names the request to support: the one that was sent, if it was well "
            "formed.",
            "required": True,
            "schema": {"type": "string", "pattern": f"^{REQUEST_ID.pattern}$"},
        },
        "access-control-allow-origin": {"required": True, "schema": {"const": "*"}},
    }
    for name, description in _RATE_HEADERS.items():
        headers[name] = {
            "description": description,
            "required": keyed,
            "schema": {"type": "integer", "minimum": 0},
        }
    return headers


def _flag(value: str, where: str) -> dict[str, Any]:
    """A header with one value, where it is there."""
    return {"description": f"There, and `{value}`, where {where}.", "schema": {"const": value}}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(kind: type) -> Schema:
    return {"$ref": _COMPONENT.format(name=kind.__name__)}


# --- Types --------------------------------------------------------------------------------------


def _schemas() -> dict[str, Schema]:
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    bodies += [field for operation in OPERATIONS for field in operation.fields]
    answers = {operation.answer for operation in OPERATIONS}
    events = {operation.events for operation in OPERATIONS if operation.events}
    _, inputs = json.schema_components(bodies, ref_template=_COMPONENT)
    _, outputs = json.schema_components([*answers, *events, ErrorAnswer], ref_template=_COMPONENT)
    for schema in outputs.values():
        _require_what_is_always_sent(schema)
    refusal = json.decode(body(ModelNotFound(), "/v1/chat/completions"))
    outputs[ErrorAnswer.__name__]["examples"] = [refusal]
    schemas = inputs | outputs
    return {name: _tidy(schemas[name]) for name in sorted(schemas)}


def _require_what_is_always_sent(schema: Schema) -> None:
    """A default makes a field optional to readers only; answers always contain it."""
    for name, described in schema.get("properties", {}).items():
        if "default" in described:
            del described["default"]
            schema["required"].append(name)


def _tidy(schema: Schema) -> Schema:
    """The schema without its title, which repeats the name, and without the line breaks of
    docstrings."""
    schema.pop("title", None)
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())
    return schema
