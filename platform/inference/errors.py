"""How a call can fail once it was allowed to start; nothing is billed where it says so."""

from typing import Any

from common.errors import DomainError


def error_of(failure: DomainError) -> dict[str, Any]:
    """The `error` of what a call was for, and that has failed."""
    return {"code": failure.code, "message": failure.text, **failure.extra}


class UpstreamFailed(DomainError):
    code, status = "upstream_error", 502
    message = "The model's provider failed before it answered. Nothing was billed; try again."


class AnswerInterrupted(DomainError):
    """The provider failed in the middle of its answer: what came is billed."""

    code, status = "upstream_error", 502
    message = "The model's provider failed in the middle of its answer. What it produced is billed."


class ProviderNotAvailable(DomainError):
    code, status = "provider_unavailable", 503
    message = "This model's provider is not available here. Nothing was billed; choose another."


class RequestRefusedByProvider(DomainError):
    code, status = "invalid_body", 400
    message = "The model's provider refused this request. Nothing was billed."


class ContentBlocked(DomainError):
    code, status = "content_blocked", 400
    message = "The model's provider refuses to make this. Nothing was billed; change the prompt."


class InputTooLong(DomainError):
    code, status = "input_too_long", 400
    message = "The input is longer than this model accepts. Nothing was billed; shorten it."


class NoText(DomainError):
    """A call that ended well and brought nothing to read: thoughts alone, or a refusal without a
    word. What it used is billed."""

    code, status = "no_text", 502
    message = (
        "The model has ended without writing anything. What it used is billed; regenerate "
        "it, with another model."
    )


class CallCancelled(DomainError):
    """Its user did not want the call any more; what had come is billed."""

    code, status = "cancelled", 409
    message = "This was cancelled. What had been written is kept and billed."


class CallInterrupted(DomainError):
    """The process that made the call has died."""

    code, status = "interrupted", 503
    message = "The server was interrupted. What had been written is kept and billed; try again."
