"""Requests that order something: why they may be refused, and how they are carried out and
answered."""

from typing import Any

from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from ai.inference.errors import ProviderNotAvailable
from billing.errors import (
    FeatureRequired,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    PlanRequired,
)
from billing.idempotency import read_request_key, replayed
from common.errors import NotFound
from media.files.errors import UploadNotFound
from studios.errors import StorageQuotaExceeded, TooManyJobs
from studios.preparation import PreparedOrder
from studios.serializers.jobs import JobSerializer
from studios.services.ordering import place

# For `common.openapi.error_responses`. Of what only says what something would cost, the first.
ESTIMATES = (PlanRequired, FeatureRequired, UploadNotFound, ProviderNotAvailable)
ORDERS = (
    *ESTIMATES,
    InsufficientBalance,
    InsufficientForRequest,
    IdempotencyMismatch,
    TooManyJobs,
    StorageQuotaExceeded,
    NotFound,
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
