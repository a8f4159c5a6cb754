"""`/api/videos`: the video studio."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS
from common.validation import read
from studios.errors import CannotBeContinued, ClipTooLong, JobNotFinished
from studios.preparation import prepare_extension
from studios.request_serializers import (
    ExtensionSerializer,
    JobsQuerySerializer,
    StarSerializer,
    VideoOrderSerializer,
)
from studios.selectors.jobs import get_job
from studios.serializers.estimates import EstimateSerializer
from studios.serializers.jobs import JobSerializer
from studios.types import Kind
from studios.viewsets.orders import ESTIMATES, ORDERS, order
from studios.viewsets.studio import StudioViewSet


class VideoViewSet(StudioViewSet):
    """Clips, made and extended by jobs. Your plan needs the feature `videos`."""

    kind = Kind.VIDEO
    order_serializer = VideoOrderSerializer

    @extend_schema(
        operation_id="listVideos",
        parameters=[*PAGE_PARAMETERS, JobsQuerySerializer],
        responses=JobSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your clips, newest first."""
        return self.list_jobs(request)

    @extend_schema(
        operation_id="orderVideo",
        parameters=[IDEMPOTENCY_KEY],
        request=VideoOrderSerializer,
        responses={202: JobSerializer, **error_responses(*ORDERS)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Make a clip.

        It takes minutes. Its cost is held until the provider has finished, and is given back where
        the provider fails.
        """
        return self.order(request)

    @extend_schema(
        operation_id="estimateVideo",
        request=VideoOrderSerializer,
        responses={200: EstimateSerializer, **error_responses(*ESTIMATES)},
    )
    def estimate(self, request: AuthenticatedRequest) -> Response:
        """What a clip would cost."""
        return self.estimate_order(request)

    @extend_schema(
        operation_id="extendVideo",
        parameters=[IDEMPOTENCY_KEY],
        request=ExtensionSerializer,
        responses={
            202: JobSerializer,
            **error_responses(JobNotFinished, CannotBeContinued, ClipTooLong, *ORDERS),
        },
    )
    def extend(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Let a finished clip go on.

        This is a new job, whose parent is the clip. `x-extend` in the `params` of the model says
        how many seconds it can add; `total_seconds` is the length of the result.
        """
        body = read(ExtensionSerializer, request.data)
        clip = get_job(request.user, job_id, self.kind)
        return order(request, prepare_extension(user=request.user, clip=clip, **body), body)

    @extend_schema(operation_id="starVideo", request=StarSerializer, responses=JobSerializer)
    def star(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Star a clip, or take the star away."""
        return self.set_star(request, job_id)

    @extend_schema(operation_id="deleteVideo", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Delete a clip for good.

        A job that has not ended is hidden at once and cancelled at the provider. It is billed if
        the provider finishes it all the same.
        """
        return self.delete_job(request, job_id)
