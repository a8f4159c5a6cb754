"""Takes one step of an operation at its provider, and says what came of it."""

from typing import Any
from uuid import UUID

from ai.operations.types import (
    CancelAsked,
    Operation,
    Outcome,
    Refused,
    Step,
    TurnedAway,
    Unanswered,
)
from ai.providers.errors import NothingMade, ProviderError, UpstreamError
from ai.providers.operations import Delivered, Failed, OperationWire

# Seconds that a provider may take to answer.
ASK_SECONDS = 30.0


async def submit(
    wire: OperationWire[Any], order: Any, operation_id: UUID, *, seconds: float
) -> Outcome | Delivered:
    """Submit an operation, with its id as our reference."""
    try:
        return await wire.submit(order, str(operation_id), seconds=seconds)
    except NothingMade as error:
        return Failed(str(error))
    except UpstreamError as error:
        return TurnedAway(error) if error.retryable else Unanswered(error)
    except ProviderError as error:
        return Refused(error)


async def ask(wire: OperationWire[Any], step: Step, operation: Operation) -> Outcome:
    """Take the step POLL or CANCEL.

    A refusal says nothing of the operation: it may be our key that is refused.
    """
    try:
        if step is Step.POLL:
            return await wire.poll(operation.provider_id, seconds=ASK_SECONDS)
        if wire.can_cancel:
            await wire.cancel(operation.provider_id, seconds=ASK_SECONDS)
        return CancelAsked()
    except ProviderError as error:
        return Unanswered(error)
