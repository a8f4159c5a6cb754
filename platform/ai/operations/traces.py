"""The spans of the steps that an operation takes at its provider."""

from collections.abc import Awaitable
from typing import TypeVar

from ai.inference.errors import ResultUnusable, meaning_of
from ai.operations.errors import OperationFailed, OperationGone
from ai.operations.types import OperationCall, Refused, Step, TurnedAway, Unanswered, Unusable
from ai.providers.errors import ProviderError
from ai.providers.operations import Failed, Unknown
from common.errors import DomainError
from observability.tracing import spans
from observability.tracing.spans import Span

T = TypeVar("T")


async def traced(call: OperationCall, step: Step, taking: Awaitable[T]) -> T:
    """Take a step within a span, which is marked as failed where the step has brought nothing.
    `taking` says by its outcome what went wrong, and raises nothing but for bugs."""
    model = call.model
    with spans.span(
        f"{step} {model.id}",
        span_kind="client",
        provider=model.provider,
        model=model.id,
        kind=call.kind,
        step=step.value,
        request_id=call.request_id,
    ) as span:
        outcome = await taking
        _mark(span, outcome)
    return outcome


def _mark(span: Span, outcome: object) -> None:
    match outcome:
        case TurnedAway(ProviderError() as error) | Unanswered(ProviderError() as error):
            _mark_as_failed(span, error)
        case Refused(error):
            _mark_as_failed(span, error)
        case TurnedAway(DomainError() as error) | Unanswered(DomainError() as error):
            span.fail(error.code)
        case Failed():
            span.fail(OperationFailed.code)
        case Unknown():
            span.fail(OperationGone.code)
        case Unusable():
            span.fail(ResultUnusable.code)


def _mark_as_failed(span: Span, error: ProviderError) -> None:
    span.set(http_status=error.status)
    span.fail(meaning_of(error).code)
