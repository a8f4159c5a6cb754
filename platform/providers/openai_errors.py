"""From an OpenAI-compatible provider's refusal to one of our errors.

The provider's own words reach the caller only where the caller can mend the request; elsewhere
they may name our account or our key.
"""

import re
from typing import Any

import msgspec

from common.redaction import redact
from providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError

_MAX_TEXT = 300  # characters of a provider's message that are passed on

_OUR_CREDENTIALS = frozenset({401, 402, 403})
_GONE = frozenset({404, 410})
_CALLER_CAN_MEND = frozenset({400, 413, 422})
_TRANSIENT = frozenset({408, 409, 425, 429})

# Our quota, balance or key at the provider, whatever the status that comes with it.
_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "billing_error",
        "exceeded_current_quota_error",
        "enforced_spend_limit_reached",
        "invalid_api_key",
    }
)
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})

_UNSAFE_IN_CODE = re.compile(r"[^\w.-]")


def error_from(status: int, body: bytes) -> ProviderError:
    """The error that an answer of that status and body stands for.

    `status` 200 is an error that came after the headers, alone or in the middle of a stream.
    """
    codes, message = _read(body)
    if status in _OUR_CREDENTIALS or codes & _QUOTA_CODES or "api key" in message.lower():
        return ProviderUnavailable("The provider does not serve us at the moment.")
    if status in _GONE:
        return ProviderUnavailable("The provider does not serve this model any more.")
    too_long = bool(codes & _TOO_LONG_CODES)
    if too_long or status in _CALLER_CAN_MEND:
        return RequestRefused(
            presentable(message) or "The provider refused the request.", too_long=too_long
        )
    reasons = sorted(codes) if status == 200 else [f"HTTP {status}", *sorted(codes)]
    retryable = status in _TRANSIENT or status >= 500 or status == 200
    return UpstreamError(
        f"The provider failed ({', '.join(reasons) or 'no reason given'}).", retryable=retryable
    )


def presentable(message: str) -> str:
    """A provider's message, bounded and without anything that looks like a credential."""
    return redact(message)[:_MAX_TEXT].strip()


def _read(body: bytes) -> tuple[set[str], str]:
    """The codes and the message of an error body, whichever of its many forms it has."""
    try:
        answer: Any = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return set(), ""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    if not isinstance(answer, dict):
        return set(), ""
    error = answer.get("error")
    fields = error if isinstance(error, dict) else answer
    codes = {
        _UNSAFE_IN_CODE.sub("_", str(fields[name]))[:64]
        for name in ("code", "type")
        if isinstance(fields.get(name), str | int)
    }
    messages = (error, fields.get("message"), answer.get("detail"))
    return codes, next((text for text in messages if isinstance(text, str)), "")
