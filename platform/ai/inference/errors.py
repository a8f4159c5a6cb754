"""The failures of calls that were allowed to start. Each message says whether the call is
billed."""

import math
from typing import Any

from ai.providers.errors import (
    AnswerUnusable,
    ProviderError,
    ProviderUnavailable,
    RequestRefused,
    UpstreamError,
)
from billing.types import Failure
from common.errors import DomainError

# The most seconds that a provider's Retry-After is passed on for: a day.
MAX_RETRY_AFTER = 86_400


def error_of(failure: DomainError) -> dict[str, Any]:
    """The `error` of a resource whose call has failed. `message` says what can be done;
    `provider_message` is the provider's own message, which need not say so."""
    error = {"code": failure.code, "message": failure.text, **failure.extra}
    if isinstance(failure, RefusedByProvider) and failure.text != failure.message:
        error |= {"message": failure.message, "provider_message": failure.text}
    return error


def failure_of(error: DomainError) -> Failure:
    """`error_of` for operators, without the provider's message, which may quote the request."""
    is_quoted = isinstance(error, RefusedByProvider)
    return Failure(code=error.code, message=error.message if is_quoted else error.text)


def meaning_of(error: ProviderError) -> DomainError:
    """What a provider's failure without any output means to the caller."""
    if isinstance(error, RequestRefused):
        if error.blocked:
            return ContentBlocked(str(error))
        return InputTooLong() if error.too_long else RequestRefusedByProvider(str(error))
    if isinstance(error, ProviderUnavailable):
        return ProviderRefusesUs()
    failed = ResultUnusable if isinstance(error, AnswerUnusable) else UpstreamFailed
    return failed(retry_after=_retry_after(error))


def _retry_after(error: ProviderError) -> int | None:
    """The whole seconds that the provider asks to wait, if it does."""
    seconds = error.retry_after if isinstance(error, UpstreamError) else None
    return None if seconds is None else min(max(math.ceil(seconds), 1), MAX_RETRY_AFTER)


class UpstreamFailed(DomainError):
    code, status = "upstream_error", 502
    message = "The model's provider failed before it answered. Nothing was billed; try again."


class ResultUnusable(UpstreamFailed):
    message = "The provider has delivered nothing that can be used. Nothing was billed; try again."


class ProviderRefusesUs(UpstreamFailed):
    """The provider refuses our key, quota or model: trying again does not help before an operator
    has acted."""

    message = (
        "The model's provider does not serve this model at the moment. Nothing was billed; choose "
        "another model."
    )


class ProviderFails(UpstreamFailed):
    """The circuit of the model has opened while the call ran: the provider fails for everybody."""

    message = (
        "The model's provider has stopped answering while this ran, for everybody. Nothing was "
        "billed; try again after Retry-After seconds, or choose another model."
    )


class AnswerInterrupted(DomainError):
    """The provider failed in the middle of its answer. The output so far is billed."""

    code, status = "upstream_error", 502
    message = "The model's provider failed in the middle of its answer. What it produced is billed."


class RefusedByProvider(DomainError):
    """The provider refuses the content of the request. The message may be the provider's."""


class RequestRefusedByProvider(RefusedByProvider):
    code, status = "invalid_body", 400
    message = (
        "The model's provider refused this request. Nothing was billed; change it or choose "
        "another model."
    )


class UnsupportedParameter(DomainError):
    """A model cannot do what a parameter, `param`, asks for: nothing was sent or held."""

    code, status = "unsupported_parameter", 400
    message = "This model does not take a parameter of the request. Choose another model."


class ContentBlocked(RefusedByProvider):
    code, status = "content_blocked", 400
    message = (
        "The model's provider refuses to answer this. Nothing was billed; change it or choose "
        "another model."
    )


class InputTooLong(RefusedByProvider):
    code, status = "input_too_long", 400
    message = (
        "The input is longer than this model accepts. Nothing was billed; shorten it or choose "
        "another model."
    )


class NoText(DomainError):
    """A call that ended well without any text: with reasoning alone, or with an empty refusal. Its
    usage is billed."""

    code, status = "no_text", 502
    message = (
        "The model has ended without writing anything. What it used is billed; regenerate "
        "it, with another model."
    )


class CallCancelled(DomainError):
    """The user has cancelled the call. The output so far is billed."""

    code, status = "cancelled", 409
    message = "This was cancelled. What had been written is kept and billed."


class CallInterrupted(DomainError):
    """The process that made the call has died."""

    code, status = "interrupted", 503
    message = (
        "The server was interrupted. What had been written is kept and billed; regenerate it to "
        "write it again."
    )
