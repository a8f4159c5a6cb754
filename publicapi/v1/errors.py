"""The errors of `/v1` and their envelope: `{"error": {"message", "type", "code", "param"}}`."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ai.inference.errors import ProviderRefusesUs
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import AnswerLost
from common.errors import DomainError

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
    """Branch on `code`; `message` is for people. `param` is the wrong parameter, if there is one,
    like `messages[3].content`. The amounts of a 402 are in US dollars; `billed_usd` is the price of
    a request whose answer is lost."""

    message: str
    type: ErrorType
    code: str
    param: str | None
    model_key: str | UnsetType = UNSET
    plan: str | UnsetType = UNSET
    needed_usd: float | UnsetType = UNSET
    afford_usd: float | UnsetType = UNSET
    balance_usd: float | UnsetType = UNSET
    held_usd: float | UnsetType = UNSET
    available_usd: float | UnsetType = UNSET
    billed_usd: float | UnsetType = UNSET


_AMOUNTS = (
    *("model_key", "plan", "needed_usd", "afford_usd"),
    *("balance_usd", "held_usd", "available_usd", "billed_usd"),
)


class ErrorAnswer(Struct):
    """The envelope of every error, also in the middle of a stream."""

    error: ErrorDetail


# The code that raises one of these sets the wrong parameter (`param`), where it varies.


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
# SDKs retry 409, 429 and 5xx by themselves; for these errors a retry cannot help.
_LASTING_STATUSES = frozenset({402, 403, 404})
_LASTING = (ProviderNotAvailable, ProviderRefusesUs, AnswerLost)


# The parameter that is always wrong.
_PARAMS = {
    "invalid_messages": "messages",
    "invalid_input": "input",
    "unsupported_encoding": "encoding_format",
    "model_not_found": "model",
    "model_not_allowed": "model",
    "key_not_found": "key",
    "provider_unavailable": "model",
}
# The parameter with the model's input, which is too long or blocked.
_CONTENT_CODES = frozenset({"input_too_long", "content_blocked"})
_CONTENT = {
    "/v1/chat/completions": "messages",
    "/v1/embeddings": "input",
    "/v1/images/generations": "prompt",
}


def body(error: DomainError, path: str) -> bytes:
    """The JSON envelope of an error of the endpoint at `path`, with the error's amounts."""
    amounts = {name: error.extra.get(name) for name in _AMOUNTS}
    detail = ErrorDetail(
        message=error.text,
        type=error_type(error.status),
        code=error.code,
        param=error.extra.get("param") or _param(error.code, path),
        **{name: amount for name, amount in amounts.items() if amount is not None},
    )
    return msgspec.json.encode(ErrorAnswer(detail))


def _param(code: str, path: str) -> str | None:
    return _CONTENT.get(path) if code in _CONTENT_CODES else _PARAMS.get(code)


def error_type(status: int) -> ErrorType:
    """The `type` of errors with this status."""
    return _TYPES.get(status, "api_error")


def headers(error: DomainError) -> list[tuple[bytes, bytes]]:
    """`Retry-After` where waiting helps, `x-should-retry: false` where a retry does not, and
    `WWW-Authenticate` (RFC 6750, section 3)."""
    if error.retry_after is not None:
        return [(b"retry-after", str(error.retry_after).encode())]
    if error.status == 401:
        return [(b"www-authenticate", _challenge(error))]
    if error.status in _LASTING_STATUSES or isinstance(error, _LASTING):
        return [(b"x-should-retry", b"false")]
    return []


def _challenge(error: DomainError) -> bytes:
    """The challenge, which distinguishes a wrong token from a missing one."""
    wrong = "" if isinstance(error, MissingApiKey) else ', error="invalid_token"'
    return f'Bearer realm="v1"{wrong}'.encode()
