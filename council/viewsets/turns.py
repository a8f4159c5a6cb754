"""Requests that start calls: why they may be refused, and how they are carried out and answered."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rest_framework import status
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from accounts.types import AuthenticatedRequest
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    PlanRequired,
)
from billing.idempotency import read_request_key, replayed
from common.errors import NotFound
from council.models import Turn
from council.services import actions
from work.jobs.errors import TooManyRuns

# For `common.openapi.error_responses`. Of what only says what something would cost, the first.
ESTIMATES = (PlanRequired,)
STARTS = (
    *ESTIMATES,
    InsufficientBalance,
    InsufficientForRequest,
    IdempotencyMismatch,
    TooManyRuns,
    ProviderNotAvailable,
    NotFound,
)


def carry_out(
    request: AuthenticatedRequest,
    service: Callable[..., Any],
    body: dict[str, Any],
    *,
    least: int = 1,
    **resource: Any,
) -> Turn:
    """The turn that a service begins with this body, once for each `Idempotency-Key`. Raises what
    `council.services.actions.carry_out` does."""
    return actions.carry_out(
        user=request.user,
        request_key=read_request_key(request, body),
        action=partial(service, user=request.user, **resource, **body),
        least=least,
    )


def answer(
    turn: Turn,
    serializer: type[BaseSerializer[Any]],
    shown: object,
    status_code: int = status.HTTP_202_ACCEPTED,
) -> Response:
    """What the turn has begun, and whether an earlier request has begun it."""
    return Response(serializer(shown).data, status=status_code, headers=replayed(turn.is_replayed))
