"""What the three studios have in common."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from studios.errors import WouldBeBilled
from studios.preparation import prepare
from studios.request_serializers import (
    DeletionQuerySerializer,
    JobsQuerySerializer,
    StarSerializer,
)
from studios.selectors.jobs import list_jobs, view_of, views_of
from studios.serializers.estimates import EstimateSerializer
from studios.serializers.jobs import JobSerializer
from studios.services import jobs
from studios.services.estimates import estimate
from studios.types import Kind
from studios.viewsets.orders import View, order


def lists(
    *, operation_id: str, query: type[JobsQuerySerializer] = JobsQuerySerializer
) -> Callable[[View], View]:
    """Describes a view that lists jobs."""
    return extend_schema(
        operation_id=operation_id,
        parameters=[*PAGE_PARAMETERS, query],
        responses=JobSerializer(many=True),
    )


def deletes(*, operation_id: str) -> Callable[[View], View]:
    """Describes a view that deletes a job."""
    return extend_schema(
        operation_id=operation_id,
        parameters=[DeletionQuerySerializer],
        responses={202: JobSerializer, 204: None, **error_responses(WouldBeBilled)},
    )


def page_of_jobs(request: AuthenticatedRequest, **filters: Any) -> Response:
    """A page of the user's jobs; `filters` as in `list_jobs`."""
    found = list_jobs(request.user, **filters)
    return NewestFirst().answer(request, found, JobSerializer, objects=views_of)


class StudioViewSet(ViewSet):
    """The acts of a studio; the viewsets of the kinds describe them."""

    kind: ClassVar[Kind]
    order_serializer: ClassVar[type[Serializer[Any]]]
    query_serializer: ClassVar[type[JobsQuerySerializer]] = JobsQuerySerializer

    def list_jobs(self, request: AuthenticatedRequest) -> Response:
        asked = read(self.query_serializer, request.query_params.dict())
        return page_of_jobs(request, kind=self.kind, **asked)

    def order(self, request: AuthenticatedRequest) -> Response:
        body = read(self.order_serializer, request.data)
        return order(request, prepare(user=request.user, kind=self.kind, **body), body)

    def estimate_order(self, request: AuthenticatedRequest) -> Response:
        body = read(self.order_serializer, request.data)
        found = estimate(prepare(user=request.user, kind=self.kind, **body))
        return Response(EstimateSerializer(found).data)

    def set_star(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        body = read(StarSerializer, request.data)
        starred = jobs.star(user=request.user, job_id=job_id, kind=self.kind, **body)
        return Response(JobSerializer(view_of(starred)).data)

    def delete_job(self, request: AuthenticatedRequest, job_id: UUID) -> Response:
        confirmed = read(DeletionQuerySerializer, request.query_params.dict())["confirm"]
        hidden = jobs.delete(user=request.user, job_id=job_id, kind=self.kind, confirmed=confirmed)
        if hidden is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(JobSerializer(view_of(hidden)).data, status=status.HTTP_202_ACCEPTED)
