"""`/api/videos`: the video studio."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.validation import read
from studios.errors import CannotBeContinued, ClipTooLong, JobNotFinished
from studios.preparation import PreparedOrder, prepare_extension
from studios.request_serializers import (
    ExtensionSerializer,
    StarSerializer,
    VideoOrderSerializer,
)
from studios.selectors.jobs import get_job
from studios.serializers.estimates import EstimateSerializer
from studios.serializers.jobs import JobSerializer
from studios.services.estimates import estimate
from studios.types import Kind
from studios.viewsets.orders import estimates, order, orders
from studios.viewsets.studio import StudioViewSet, deletes, lists


class VideoViewSet(StudioViewSet):
    """Clips, made and extended by jobs. Your plan needs the feature `videos`."""

    kind = Kind.VIDEO
    order_serializer = VideoOrderSerializer

    @lists(operation_id="listVideos")
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your clips, newest first."""
        return self.list_jobs(request)

    @orders(operation_id="orderVideo", request=VideoOrderSerializer)
    def create(self, request: AuthenticatedRequest) -> Response:
        """Make a clip.

        It takes minutes. Its cost is held until the provider has finished, and is given back where
        the provider fails.
        """
        return self.order(request)

    @estimates(operation_id="estimateVideo", request=VideoOrderSerializer)
    def estimate(self, request: AuthenticatedRequest) -> Response:
        """What a clip would cost."""
        return self.estimate_order(request)

    @orders(
        JobNotFinished,
        CannotBeContinued,
        ClipTooLong,
        operation_id="extendVideo",
        request=ExtensionSerializer,
    )
    def extend(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Let a finished clip go on.

        This is a new job, whose parent is the clip. `x-extend` in the `params` of the model says
        how many seconds it can add; `total_seconds` is the length of the result.
        """
        prepared, body = self._extension(request, job_id)
        return order(request, prepared, body)

    @estimates(
        JobNotFinished,
        CannotBeContinued,
        ClipTooLong,
        operation_id="estimateVideoExtension",
        request=ExtensionSerializer,
    )
    def estimate_extension(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """What it would cost to let a finished clip go on."""
        prepared, _ = self._extension(request, job_id)
        return Response(EstimateSerializer(estimate(prepared)).data)

    def _extension(
        self, request: AuthenticatedRequest, job_id: UUID
    ) -> tuple[PreparedOrder, dict[str, Any]]:
        """The order of an extension, and its body."""
        body = read(ExtensionSerializer, request.data)
        others = body.pop("others")
        clip = get_job(request.user, job_id, self.kind)
        return prepare_extension(user=request.user, clip=clip, others=others, **body), body

    @extend_schema(operation_id="starVideo", request=StarSerializer, responses=JobSerializer)
    def star(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Star a clip, or take the star away."""
        return self.set_star(request, job_id)

    @deletes(operation_id="deleteVideo")
    def destroy(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Delete a clip for good.

        204: it is gone, and a job that waited is not billed. 409 `would_be_billed`: the job is at
        its provider, who may finish it all the same; `at_most_usd` is what would be billed. With
        `confirm=true` the answer is 202: the job is hidden and cancelled, its result is thrown
        away, and `GET /api/jobs/{job_id}` says what was billed.
        """
        return self.delete_job(request, job_id)
