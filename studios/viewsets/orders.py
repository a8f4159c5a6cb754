"""Requests that order something: why they may be refused, and how they are carried out and
answered."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.types import AuthenticatedRequest
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    FeatureRequired,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    PlanRequired,
)
from billing.idempotency import read_request_key, replayed
from common.errors import DomainError, NotFound
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from media.files.errors import UploadNotFound
from studios.errors import StorageQuotaExceeded, TooManyJobs
from studios.preparation import PreparedOrder
from studios.serializers.estimates import EstimateSerializer
from studios.serializers.jobs import JobSerializer
from studios.services.ordering import place

# Of what only says what something would cost, the first.
_ESTIMATES = (PlanRequired, FeatureRequired, UploadNotFound, ProviderNotAvailable)
_ORDERS = (
    *_ESTIMATES,
    InsufficientBalance,
    InsufficientForRequest,
    IdempotencyMismatch,
    TooManyJobs,
    StorageQuotaExceeded,
    NotFound,
)

Body = type[Serializer[Any]]
View = TypeVar("View", bound=Callable[..., Response])


def orders(
    *refusals: type[DomainError], operation_id: str, request: Body | None
) -> Callable[[View], View]:
    """Describes a view that orders something: its own refusals, and those of every order."""
    return extend_schema(
        operation_id=operation_id,
        parameters=[IDEMPOTENCY_KEY],
        request=request,
        responses={202: JobSerializer, **error_responses(*refusals, *_ORDERS)},
    )


def estimates(
    *refusals: type[DomainError], operation_id: str, request: Body
) -> Callable[[View], View]:
    """Describes a view that says what an order would cost: its own refusals, and the usual ones."""
    return extend_schema(
        operation_id=operation_id,
        request=request,
        responses={200: EstimateSerializer, **error_responses(*refusals, *_ESTIMATES)},
    )


def order(request: AuthenticatedRequest, prepared: PreparedOrder, body: dict[str, Any]) -> Response:
    """Place an order, once for each `Idempotency-Key`, and answer with its job."""
    key = read_request_key(request, body)
    view, is_replayed = place(prepared=prepared, request_key=key)
    return Response(
        JobSerializer(view).data,
        status=status.HTTP_202_ACCEPTED,
        headers=replayed(is_replayed),
    )
