"""`/api/jobs`: the generation jobs of all studios."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.validation import read
from common.viewsets import ViewSet
from studios.errors import CannotBeContinued, ClipTooLong, NothingToRetry
from studios.preparation import prepare_retry
from studios.request_serializers import AllJobsQuerySerializer
from studios.selectors.jobs import get_any_job, get_job, view_of
from studios.serializers.jobs import JobSerializer
from studios.services import jobs
from studios.viewsets.orders import order, orders
from studios.viewsets.studio import lists, page_of_jobs


class JobViewSet(ViewSet):
    """Jobs of all studios."""

    @lists(operation_id="listJobs", query=AllJobsQuerySerializer)
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your jobs of all kinds, newest first."""
        return page_of_jobs(request, **read(AllJobsQuerySerializer, request.query_params.dict()))

    @extend_schema(operation_id="getJob", responses=JobSerializer)
    def retrieve(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """A job, also one that was deleted at its provider.

        Poll it with `If-None-Match`: an unchanged job is answered with 304. Better, follow your
        event stream, which tells every change of a job.
        """
        return Response(JobSerializer(view_of(get_any_job(request.user, job_id))).data)

    @extend_schema(
        operation_id="cancelJob", request=None, responses={200: JobSerializer, 202: JobSerializer}
    )
    def cancel(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Cancel a job.

        200: it has ended. 202: the provider is asked to stop; the job ends as the provider says,
        and is billed if the provider finishes it all the same.
        """
        generation = jobs.cancel(user=request.user, job_id=job_id)
        code = status.HTTP_202_ACCEPTED if generation.is_open else status.HTTP_200_OK
        return Response(JobSerializer(view_of(generation)).data, status=code)

    @orders(NothingToRetry, CannotBeContinued, ClipTooLong, operation_id="retryJob", request=None)
    def retry(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        """Order the same once more, by a new job. For jobs that have failed or were cancelled."""
        failed = get_job(request.user, job_id)
        return order(request, prepare_retry(user=request.user, failed=failed), {})
