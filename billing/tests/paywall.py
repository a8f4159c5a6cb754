"""Routes for the tests of 402: what holds and features refuse, as `/api` renders it.

The calls are the real ones, of a feature that does nothing else.
"""

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.response import Response

from ai.catalog.selectors import get_catalog
from billing.selectors.features import require_feature
from billing.services import charges
from billing.types import HoldRequest
from billing.urls import billing_routes
from common.database import get_database
from common.ids import uuid7


@extend_schema(exclude=True)
@api_view(["POST"])
def begin_call(request: Any) -> Response:
    """Hold for a call: `{model, worst_cost, owner, chat}`."""
    model = get_catalog().models[request.data["model"]]
    asked = HoldRequest(
        charge_id=uuid7(),
        account_id=request.user.pk,
        api_key_id=None,
        model_id=model.id,
        price_version_id=model.price.version_id,
        source="web",
        kind=model.modality,
        worst_cost=request.data["worst_cost"],
        owner_id=UUID(request.data["owner"]),
        seconds=600,
        free_window=request.data["chat"],
    )
    async_to_sync(_hold)(asked)
    return Response({"charge": asked.charge_id})


async def _hold(request: HoldRequest) -> None:
    try:
        await charges.hold(request)
    finally:
        await get_database().close()


@extend_schema(exclude=True)
@api_view(["POST"])
def use_feature(request: Any, feature: str) -> Response:
    require_feature(request.user, feature)
    return Response({})


urlpatterns = [
    path("api/billing/", include(billing_routes)),
    path("api/calls", begin_call),
    path("api/features/<str:feature>", use_feature),
]
