"""The errors of `/v1` and their envelope: `{"error": {"message", "type", "code", "param"}}`."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from common.errors import DomainError
from inference.errors import ProviderNotAvailable, ProviderRefusesUs

ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "insufficient_quota",
    "permission_error",
    "not_found_error",
    "rate_limit_error",
    "api_error",
]


class ErrorDetail(Struct, kw_only=True):
    """Branch on `code`; `message` is for people. The figures are those of a 402, in US dollars."""

    message: str
    type: ErrorType
    code: str
    param: None
    model_key: str | UnsetType = UNSET
    plan: str | UnsetType = UNSET
    needed_usd: float | UnsetType = UNSET
    afford_usd: float | UnsetType = UNSET
    balance_usd: float | UnsetType = UNSET


class ErrorAnswer(Struct):
    """The envelope of every error, also in the middle of a stream."""

    error: ErrorDetail


class MissingApiKey(DomainError):
    code, status = "missing_api_key", 401
    message = "Send your API key as `Authorization: Bearer mk_...`."


class RateLimitExceeded(DomainError):
    code, status = "rate_limit_exceeded", 429
    message = "This key may make 120 requests per minute. Wait for Retry-After seconds."


class InvalidBody(DomainError):
    code, status = "invalid_body", 400
    message = "The body must be a JSON object."


class InvalidMessages(DomainError):
    code, status = "invalid_messages", 400
    message = "`messages` must hold at least one message of role `user` with text."


class InputTooLong(DomainError):
    code, status = "input_too_long", 400
    message = "A request may hold at most 400,000 characters of messages."


class InvalidInput(DomainError):
    code, status = "invalid_input", 400
    message = "`input` must be a text or an array of texts."


class UnsupportedEncoding(DomainError):
    code, status = "unsupported_encoding", 400
    message = "`encoding_format` must be `float` or `base64`."


class ModelNotFound(DomainError):
    code, status = "model_not_found", 404
    message = "There is no such model. `GET /v1/models` lists them."


class InvalidRange(DomainError):
    code, status = "invalid_range", 400
    message = "`from` and `to` are days, written YYYY-MM-DD."


class KeyNotFound(DomainError):
    code, status = "key_not_found", 404
    message = "This account has no key with that id."


class UnknownPath(DomainError):
    code, status = "not_found", 404
    message = (
        "There is no such endpoint. `GET /v1/models` lists the models, "
        "`POST /v1/chat/completions` calls one."
    )


class MethodNotAllowed(DomainError):
    code, status = "method_not_allowed", 405
    message = "This endpoint does not take that method."


class InternalError(DomainError):
    code, status = "internal_error", 500
    message = "Something went wrong on our side. Quote the x-request-id to support."


_TYPES: dict[int, ErrorType] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
# The SDKs retry 409, 429 and 5xx by themselves; for these a retry cannot help.
_LASTING_STATUSES = frozenset({402, 403, 404})
_LASTING = (ProviderNotAvailable, ProviderRefusesUs)


def body(error: DomainError) -> bytes:
    """The JSON envelope of an error, with what figures it carries."""
    fields = ErrorDetail.__struct_fields__
    detail = ErrorDetail(
        message=error.text,
        type=error_type(error.status),
        code=error.code,
        param=None,
        **{
            name: figure
            for name, figure in error.extra.items()
            if name in fields and figure is not None
        },
    )
    return msgspec.json.encode(ErrorAnswer(detail))


def error_type(status: int) -> ErrorType:
    """The `type` of errors with this status."""
    return _TYPES.get(status, "api_error")


def headers(error: DomainError) -> list[tuple[bytes, bytes]]:
    """`Retry-After` where waiting helps, `x-should-retry: false` where nothing does."""
    if error.retry_after is not None:
        return [(b"retry-after", str(error.retry_after).encode())]
    if error.status in _LASTING_STATUSES or isinstance(error, _LASTING):
        return [(b"x-should-retry", b"false")]
    return []
