"""`/api/users/me/export`: everything that the account has, as a file."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.errors import NotFound
from common.openapi import error_responses
from common.viewsets import ViewSet
from privacy.errors import TooManyExports
from privacy.selectors import get_latest_export, state_of
from privacy.serializers import ExportSerializer
from privacy.services import exports


class ExportViewSet(ViewSet):
    """The export of the signed-in user's data."""

    @extend_schema(
        operation_id="getDataExport",
        responses={200: ExportSerializer, **error_responses(NotFound)},
    )
    def retrieve(self, request: AuthenticatedRequest) -> Response:
        """The latest export of your data."""
        return Response(ExportSerializer(get_latest_export(request.user)).data)

    @extend_schema(
        operation_id="requestDataExport",
        request=None,
        responses={202: ExportSerializer, **error_responses(TooManyExports)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Have your data exported: a ZIP file with all rows as JSON, and all files.

        While an export is being made, the answer is that one. It can be downloaded for 7 days. At
        most three can be made in 24 hours; those that have failed do not count.
        """
        export = exports.begin(user=request.user)
        return Response(ExportSerializer(state_of(export)).data, status=status.HTTP_202_ACCEPTED)
