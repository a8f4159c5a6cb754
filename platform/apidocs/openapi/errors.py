"""The errors of `/api` in the OpenAPI document: their bodies, and which operation answers which."""

from collections.abc import Iterator
from typing import Any

from accounts.errors import AccountSuspended, InvalidToken
from billing.errors import (
    EmailUnverified,
    FeatureRequired,
    FreeLimit,
    FreeModelLocked,
    InsufficientBalance,
    InsufficientForRequest,
    PaymentRequired,
    PlanRequired,
)
from billing.types import Funds
from common import envelope
from common.errors import (
    DomainError,
    InternalError,
    LengthRequired,
    MalformedRequest,
    NotAcceptable,
    NotFound,
    PayloadTooLarge,
    ServiceUnavailable,
    TooManyRequests,
    UnknownHost,
    UnsupportedMediaType,
    ValidationFailed,
)
from common.openapi import causes, envelope_schema

Schema = dict[str, Any]
Errors = list[type[DomainError]]

# The errors of any operation with a token, an id in its path, a body or a query.
_GENERAL: dict[int, Errors] = {
    400: [MalformedRequest, UnknownHost],
    401: [InvalidToken],
    403: [AccountSuspended],
    404: [NotFound],
    406: [NotAcceptable],
    411: [LengthRequired],
    413: [PayloadTooLarge],
    415: [UnsupportedMediaType],
    422: [ValidationFailed],
    429: [TooManyRequests],
    500: [InternalError],
    503: [ServiceUnavailable],
}
_HEADERS = {
    401: ["www-authenticate"],
    402: ["retry-after"],
    409: ["retry-after"],
    429: ["retry-after"],
    503: ["retry-after"],
}


def describe_errors(path: str, operation: Schema) -> None:
    """Add to an operation's own errors those of its kind, and their headers."""
    responses: dict[str, Schema] = operation["responses"]
    for status, response in responses.items():
        response["headers"] = _headers(status) | response.get("headers", {})
        response["description"] = response["description"] or operation["summary"]
    for status, errors in _general(path, operation):
        if status in responses:
            own = responses[status]["description"]
            others = [error for error in errors if error.message not in own]
            responses[status]["description"] = f"{own}\n{causes(others)}".rstrip()
        else:
            responses[status] = {"$ref": f"#/components/responses/{errors[0].__name__}"}
    operation["responses"] = dict(sorted(responses.items()))


def _general(path: str, operation: Schema) -> Iterator[tuple[str, Errors]]:
    needs_token = all(operation.get("security", [{}]))
    has_body = "requestBody" in operation
    has_values = has_body or any(each["in"] != "path" for each in operation.get("parameters", []))
    possible = {401: needs_token, 403: needs_token, 404: "{" in path, 422: has_values}
    possible |= {411: has_body, 413: has_body, 415: has_body}
    for status, errors in _GENERAL.items():
        if possible.get(status, True):
            yield str(status), errors


def _headers(status: str | int) -> dict[str, Schema]:
    names = ["x-request-id", *_HEADERS.get(int(status), [])]
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


# --- Bodies -------------------------------------------------------------------------------------

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_USD = {"type": "number", "description": "US dollars."}


def _object(description: str, **properties: Schema) -> Schema:
    """All properties are required."""
    return {
        "description": description,
        "type": "object",
        "required": list(properties),
        "properties": properties,
    }


def _or_null(schema: Schema) -> Schema:
    return schema | {"type": [schema["type"], "null"]}


def _payment_required(error: type[PaymentRequired], **own: Schema) -> Schema:
    base: dict[str, Schema] = {
        "code": {"const": error.code},
        "message": _TEXT | {"description": "For people; it may change."},
        "model_key": _or_null(_TEXT) | {"description": "The model that was asked for."},
        "plan": _or_null(_TEXT) | {"description": "The caller's plan."},
        "balance_usd": _or_null(_USD) | {"description": "The balance, in US dollars."},
        "held_usd": _or_null(_USD) | {"description": "What running calls hold of it."},
        "available_usd": _or_null(_USD) | {"description": "The rest of it."},
        "needed_usd": _or_null(_USD),
    }
    return _object(error.message, **base, **own)


_CAUSES_OF_402: dict[type[PaymentRequired], dict[str, Schema]] = {
    FreeLimit: {
        "limit": _COUNT,
        "window_hours": _COUNT,
        "used": _COUNT,
        "reset_at": {"type": "string", "format": "date-time"},
    },
    FreeModelLocked: {"free_models": {"type": "array", "items": _TEXT}},
    EmailUnverified: {},
    PlanRequired: {"feature": _TEXT},
    FeatureRequired: {"feature": _TEXT, "required_plan": _TEXT},
    InsufficientBalance: {},
    InsufficientForRequest: {"afford_usd": _USD},
}

SCHEMAS: dict[str, Schema] = {
    "Refusal": {
        **_object(
            "Why a request to the application interface is refused.",
            detail=_TEXT | {"description": "A sentence for people."},
            code=_TEXT | {"description": "What a program branches on."},
            model_key=_TEXT | {"description": "The model that is in the way, if one is."},
        ),
        "required": ["detail", "code"],
        "examples": [envelope.body(NotFound())],
    },
    "InvalidValue": _object(
        "What is wrong with one value.",
        loc={"type": "array", "items": {"type": ["string", "integer"]}},
        msg=_TEXT,
    ),
    "ValidationFailed": {
        **_object(
            "Why the values of a request are refused.",
            detail=_TEXT | {"description": "The first problem, as a sentence."},
            code=_TEXT | {"description": "What a program branches on."},
            errors={"type": "array", "items": {"$ref": "#/components/schemas/InvalidValue"}},
        ),
        "required": ["detail", "code", "errors"],
        "examples": [envelope.body(ValidationFailed.of("email", "Enter a valid email address."))],
    },
    "PaymentRequired": {
        **_object(
            "What has to be paid for first.",
            detail={
                "oneOf": [
                    {"$ref": f"#/components/schemas/{error.__name__}"} for error in _CAUSES_OF_402
                ],
                "discriminator": {
                    "propertyName": "code",
                    "mapping": {
                        error.code: f"#/components/schemas/{error.__name__}"
                        for error in _CAUSES_OF_402
                    },
                },
            },
        ),
        "examples": [
            envelope.body(
                InsufficientBalance(
                    model_key="gpt-6-luna", plan="max", funds=Funds(0, 0), needed=10_000_000
                )
            )
        ],
    },
    **{error.__name__: _payment_required(error, **own) for error, own in _CAUSES_OF_402.items()},
}

RESPONSES: dict[str, Schema] = {
    errors[0].__name__: {
        "description": causes(errors),
        "headers": _headers(status),
        "content": {
            "application/json": {
                "schema": envelope_schema(status),
                "examples": {each.__name__: {"value": envelope.body(each())} for each in errors},
            }
        },
    }
    for status, errors in _GENERAL.items()
}

HEADERS: dict[str, Schema] = {
    "x-request-id": {
        "description": "Names the request to support.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
    },
    "retry-after": {
        "description": "Seconds after which a repetition may help; always there with 429.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "www-authenticate": {
        "description": "How to authenticate.",
        "required": True,
        "schema": {"type": "string"},
    },
}

COMPONENTS = {"schemas": SCHEMAS, "responses": RESPONSES, "headers": HEADERS}
