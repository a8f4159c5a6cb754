"""`/api/images`: the image studio."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from studios.request_serializers import ImageOrderSerializer, StarSerializer
from studios.serializers.jobs import JobSerializer
from studios.types import Kind
from studios.viewsets.orders import estimates, orders
from studios.viewsets.studio import StudioViewSet, deletes, lists


class ImageViewSet(StudioViewSet):
    """Pictures, made by jobs."""

    kind = Kind.IMAGE
    order_serializer = ImageOrderSerializer

    @lists(operation_id="listImages")
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your pictures, newest first."""
        return self.list_jobs(request)

    @orders(operation_id="orderImages", request=ImageOrderSerializer)
    def create(self, request: AuthenticatedRequest) -> Response:
        """Make pictures.

        The job waits in a queue; its cost is held until it has ended. Pictures that the provider
        does not deliver are not billed.
        """
        return self.order(request)

    @estimates(operation_id="estimateImages", request=ImageOrderSerializer)
    def estimate(self, request: AuthenticatedRequest) -> Response:
        """What pictures would cost."""
        return self.estimate_order(request)

    @extend_schema(operation_id="starImage", request=StarSerializer, responses=JobSerializer)
    def star(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Star a job or one of its pictures, or take the star away."""
        return self.set_star(request, job_id)

    @deletes(operation_id="deleteImage")
    def destroy(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Delete pictures for good.

        204: it is gone, and a job that waited is not billed. 409 `would_be_billed`: the job is at
        its provider, who may finish it all the same; `at_most_usd` is what would be billed. With
        `confirm=true` the answer is 202: the job is hidden and cancelled, its result is thrown
        away, and `GET /api/jobs/{job_id}` says what was billed.
        """
        return self.delete_job(request, job_id)
