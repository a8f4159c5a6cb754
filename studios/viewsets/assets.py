"""`/api/assets-3d`: the 3D studio."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from studios.errors import CannotBeContinued, JobNotFinished
from studios.request_serializers import (
    AssetOrderSerializer,
    AssetsQuerySerializer,
    StarSerializer,
)
from studios.selectors.jobs import get_job, view_of
from studios.serializers.jobs import JobSerializer, StatusSerializer
from studios.types import Kind
from studios.viewsets.orders import estimates, orders
from studios.viewsets.studio import StudioViewSet, deletes, lists


class AssetViewSet(StudioViewSet):
    """3D assets, made and refined by jobs. Your plan needs the feature `assets_3d`."""

    kind = Kind.ASSET
    order_serializer = AssetOrderSerializer
    query_serializer = AssetsQuerySerializer

    @orders(
        JobNotFinished, CannotBeContinued, operation_id="orderAsset", request=AssetOrderSerializer
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Make a 3D asset of a text or a picture, or give a preview its surface (`refines`).

        Its cost is held until the provider has finished, and is given back where the provider
        fails. The result is a GLB file.
        """
        return self.order(request)

    @estimates(operation_id="estimateAsset", request=AssetOrderSerializer)
    def estimate(self, request: AuthenticatedRequest) -> Response:
        """What a 3D asset would cost."""
        return self.estimate_order(request)

    @lists(operation_id="listAssets", query=AssetsQuerySerializer)
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your 3D assets, newest first."""
        return self.list_jobs(request)

    @extend_schema(operation_id="getAsset", responses=JobSerializer)
    def retrieve(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """A 3D asset."""
        return Response(JobSerializer(view_of(get_job(request.user, job_id, self.kind))).data)

    @extend_schema(operation_id="getAssetStatus", responses=StatusSerializer)
    def status(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """How far a 3D asset has come."""
        return Response(StatusSerializer(view_of(get_job(request.user, job_id, self.kind))).data)

    @extend_schema(operation_id="starAsset", request=StarSerializer, responses=JobSerializer)
    def star(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Star a 3D asset, or take the star away."""
        return self.set_star(request, job_id)

    @deletes(operation_id="deleteAsset")
    def destroy(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Delete a 3D asset for good.

        204: it is gone, and a job that waited is not billed. 409 `would_be_billed`: the job is at
        its provider, who may finish it all the same; `at_most_usd` is what would be billed. With
        `confirm=true` the answer is 202: the job is hidden and cancelled, its result is thrown
        away, and `GET /api/jobs/{job_id}` says what was billed.
        """
        return self.delete_job(request, job_id)
