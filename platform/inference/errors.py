"""How a call can fail once it was allowed to start; nothing is billed where it says so."""

from common.errors import DomainError


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
