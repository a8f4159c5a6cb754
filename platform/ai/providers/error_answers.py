"""Converts the error answers of providers into our errors.

All known forms are read, from every provider. The provider's own words reach the caller only where
the caller can correct the request; elsewhere they may name our account or our key.
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from ai.providers.errors import (
    AccountFault,
    ProviderError,
    ProviderUnavailable,
    RequestRefused,
    UpstreamError,
)
from common.redaction import redact
from common.titles import one_line

_MAX_TEXT = 300  # characters of a provider's message that are passed on

_REFUSED_CREDENTIALS = frozenset({401, 403})
_GONE = frozenset({404, 410})
_CALLER_CAN_MEND = frozenset({400, 413, 422})
_TRANSIENT = frozenset({408, 409, 425, 429, 498})  # 498: Groq's flexible capacity is used up

# Problems of our quota or balance at the provider, or our key, whatever the status is.
_OUR_QUOTA = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "billing_error",
        "exceeded_current_quota_error",
        "enforced_spend_limit_reached",
        "quota_per_day",  # Gemini
        "Arrearage",  # Qwen
        *("1113", "1304", "1308", "1310"),  # Z.ai
        "tripo_2010",
    }
)
_OUR_KEY = frozenset(
    {
        "invalid_api_key",
        # Gemini
        "API_KEY_INVALID",
        "FAILED_PRECONDITION",  # billing, or a country that is not served
        *("1000", "1001", "1002", "1003", "1004"),  # Z.ai
    }
)
# Of these, those that neither the size nor the content of a request can cause.
_CERTAIN = (_OUR_QUOTA | _OUR_KEY) - {"quota_per_day", "FAILED_PRECONDITION", "billing_error"}
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "1261"})
_BLOCKED = frozenset(
    {
        "content_policy_violation",
        "moderation_blocked",
        "content_filter",
        "ResponsibleAIPolicyViolation",  # Azure
        "data_inspection_failed",  # Qwen
        "1301",  # Z.ai
        "tripo_2008",
        "flagged_input",  # OpenRouter
    }
)

# Where a code is too general, or missing, the words of the message decide. What they say of our
# account they say first: what follows may quote the request.
_NAMES_OUR_QUOTA = re.compile(
    r"your credit balance|you have reached your [\w ]{0,20}usage limits"
    r"|(you (do not|don't) have )?(enough|insufficient) credits?",
    re.IGNORECASE,
)
_NAMES_OUR_KEY = re.compile(r"(incorrect|invalid) api key|api key not valid", re.IGNORECASE)
_SAYS_BLOCKED = re.compile(r"content moderation|violates usage guidelines", re.IGNORECASE)  # xAI
# Anthropic, Azure, OpenAI. With 401 or 403 these words may be about our account.
_SAYS_REQUEST_BLOCKED = re.compile(
    r"content (filtering|management) policy|usage polic(y|ies)", re.IGNORECASE
)
_SAYS_TOO_LONG = re.compile(
    r"(prompt|input|request) (is )?too (long|large)|maximum (context|prompt|input) length"
    r"|exceeds? context limit|input token count|exceeded model token limit|range of input length",
    re.IGNORECASE,
)

# The status of each type of error, or code, for errors that come after the headers.
_STATUS_OF_TYPE = {
    "rate_limit_exceeded": 429,  # OpenAI's code; its type is what was limited
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
}

_UNSAFE_IN_CODE = re.compile(r"[^\w.-]")
_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")  # a google.protobuf.Duration in JSON


@dataclass(frozen=True, slots=True)
class _Problem:
    """The content of an error body. `status` is the one in the body."""

    codes: frozenset[str] = frozenset()
    message: str = ""
    status: int | None = None
    retry_after: float | None = None


def error_from(status: int, body: bytes) -> ProviderError:
    """The error of an answer with that status and body.

    `status` 200 is an error that came after the headers, alone or in the middle of a stream.
    """
    problem = _read(body)
    if status == 200 and problem.status is not None:
        status = problem.status
    error = _error(status, problem)
    error.status = None if status == 200 else status
    error.codes = tuple(sorted(problem.codes))
    return error


def _error(status: int, problem: _Problem) -> ProviderError:
    codes, message = problem.codes, problem.message
    if codes & _BLOCKED or _SAYS_BLOCKED.search(message):
        return _refused(message, blocked=True)
    if fault := _fault_of_ours(status, problem):
        is_certain = status == 401 or bool(codes & _CERTAIN)
        return ProviderUnavailable(fault, is_certain=is_certain)
    if codes & _TOO_LONG or status == 413:
        return _refused(message, too_long=True)
    if status in _CALLER_CAN_MEND:
        if _SAYS_REQUEST_BLOCKED.search(message):
            return _refused(message, blocked=True)
        return _refused(message, too_long=bool(_SAYS_TOO_LONG.search(message)))
    reasons = sorted(codes) if status == 200 else [f"HTTP {status}", *sorted(codes)]
    return UpstreamError(
        f"The provider failed ({', '.join(reasons) or 'no reason given'}).",
        retryable=status in _TRANSIENT or status >= 500 or status == 200,
        retry_after=problem.retry_after,
    )


def _fault_of_ours(status: int, problem: _Problem) -> AccountFault | None:
    """The fault that an operator has to look after, if it is one."""
    codes, message = problem.codes, problem.message
    if status == 402 or codes & _OUR_QUOTA or _NAMES_OUR_QUOTA.match(message):
        return "quota"
    if status in _REFUSED_CREDENTIALS or codes & _OUR_KEY or _NAMES_OUR_KEY.match(message):
        return "key"
    return "model" if status in _GONE else None


def presentable(message: str) -> str:
    """A provider's message, bounded, in one line, without invisible characters and without anything
    that looks like a credential."""
    return redact(one_line(message))[:_MAX_TEXT].strip()


def _refused(message: str, *, too_long: bool = False, blocked: bool = False) -> RequestRefused:
    text = presentable(message) or "The provider refused the request."
    return RequestRefused(text, too_long=too_long, blocked=blocked)


def _read(body: bytes) -> _Problem:
    try:
        answer: Any = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return _Problem()
    if isinstance(answer, list) and answer:
        answer = answer[0]
    if not isinstance(answer, dict):
        return _Problem()
    error = answer.get("error")
    fields = error if isinstance(error, dict) else answer
    details = [*_dicts(fields.get("details")), *_dicts(fields.get("metadata"))]
    named = {
        fields.get(name)
        for name in ("code", "type", "status", "err_code")
        if _is_code(fields.get(name))
    }
    if "suggestion" in fields:  # Tripo, whose numbers mean something else at Z.ai
        named = {f"tripo_{value}" for value in named}
    messages = (error, fields.get("message"), fields.get("err_msg"), answer.get("detail"))
    return _Problem(
        codes=frozenset({_code(value) for value in named} | _detailed_codes(details)),
        message=next((text for text in messages if isinstance(text, str)), ""),
        status=_status_named_by(fields),
        retry_after=_retry_delay(details),
    )


def _status_named_by(fields: dict[str, Any]) -> int | None:
    code, kind = fields.get("code"), fields.get("type")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    named = (name for name in (code, kind) if isinstance(name, str))
    return next((_STATUS_OF_TYPE[name] for name in named if name in _STATUS_OF_TYPE), None)


def _detailed_codes(details: list[dict[str, Any]]) -> set[str]:
    """Anthropic's error_code, Gemini's google.rpc.ErrorInfo and QuotaFailure, OpenRouter's flag."""
    codes = {
        _code(detail[name])
        for detail in details
        for name in ("error_code", "reason")
        if _is_code(detail.get(name))
    }
    violations = [v for detail in details for v in _dicts(detail.get("violations"))]
    if any("PerDay" in str(violation.get("quotaId")) for violation in violations):
        codes.add("quota_per_day")
    if any("flagged_input" in detail for detail in details):
        codes.add("flagged_input")
    return codes


def _retry_delay(details: list[dict[str, Any]]) -> float | None:
    """The seconds of Gemini's google.rpc.RetryInfo."""
    for detail in details:
        if match := _SECONDS.fullmatch(str(detail.get("retryDelay"))):
            return float(match[1])
    return None


def _dicts(value: object) -> list[dict[str, Any]]:
    """The objects in a value that should be a list of objects, or one object."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def _is_code(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _code(value: object) -> str:
    return _UNSAFE_IN_CODE.sub("_", str(value))[:64]
