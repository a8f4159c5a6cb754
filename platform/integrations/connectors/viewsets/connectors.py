"""`/api/connectors`: the user's accounts elsewhere."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import NEXT_PAGE, PAGE_PARAMETERS, NewestFirst, link_to_next
from common.validation import read
from common.viewsets import ViewSet
from integrations.connectors.errors import (
    ConnectorBusy,
    ConnectorNeedsReauth,
    ConnectorNotConfigured,
    ConnectorRefused,
    ConnectorUnavailable,
    TooManyConnectors,
)
from integrations.connectors.request_serializers import (
    ConnectorInputSerializer,
    FilesQuerySerializer,
    ImportInputSerializer,
)
from integrations.connectors.selectors.connectors import get_connector, list_connectors
from integrations.connectors.serializers import ConnectorSerializer, FileSerializer
from integrations.connectors.services import authorizations, connectors, imports
from integrations.connectors.services.drives import list_files
from media.files.errors import StorageUnavailable, UploadQuotaExceeded
from media.files.serializers import UploadSerializer

_CALLS = (ConnectorNeedsReauth, ConnectorRefused, ConnectorBusy, ConnectorUnavailable)


class ConnectorViewSet(ViewSet):
    """Your accounts at GitHub, GitLab and Google Drive."""

    @extend_schema(
        operation_id="listConnectors",
        parameters=PAGE_PARAMETERS,
        responses=ConnectorSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your connectors, newest first."""
        return NewestFirst().answer(request, list_connectors(request.user), ConnectorSerializer)

    @extend_schema(
        operation_id="createConnector",
        request=ConnectorInputSerializer,
        responses={
            200: ConnectorSerializer,
            201: ConnectorSerializer,
            **error_responses(
                ConnectorNotConfigured, TooManyConnectors, ConnectorBusy, ConnectorUnavailable
            ),
        },
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Connect the account that you have consented to, with what the callback has brought to the
        page of the web app.

        A 200 is an account that was connected before: its tokens are new.
        """
        body = read(ConnectorInputSerializer, request.data)
        connector, is_new = authorizations.finish(user=request.user, **body)
        return Response(
            ConnectorSerializer(connector).data,
            status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
        )

    @extend_schema(operation_id="getConnector", responses=ConnectorSerializer)
    def retrieve(self, request: AuthenticatedRequest, connector_id: UUID) -> Response:
        """One of your connectors."""
        return Response(ConnectorSerializer(get_connector(request.user, connector_id)).data)

    @extend_schema(operation_id="deleteConnector", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, connector_id: UUID) -> Response:
        """Disconnect an account, and end at the provider what you had granted. Workspaces that
        stand on it are disconnected too."""
        connectors.disconnect(user=request.user, connector_id=connector_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="listConnectorFiles",
        parameters=[FilesQuerySerializer, NEXT_PAGE],
        responses={200: FileSerializer(many=True), **error_responses(*_CALLS)},
    )
    def files(self, request: AuthenticatedRequest, connector_id: UUID) -> Response:
        """The files of a connected drive, the latest changed first."""
        asked = read(FilesQuerySerializer, request.query_params.dict())
        found = list_files(request.user, connector_id, query=asked["q"], page=asked["page"])
        answer = Response(FileSerializer(found.files, many=True).data)
        if found.next_page is not None:
            link_to_next(answer, request, page=found.next_page)
        return answer

    @extend_schema(
        operation_id="importConnectorFile",
        request=ImportInputSerializer,
        responses={
            201: UploadSerializer,
            **error_responses(*_CALLS, UploadQuotaExceeded, StorageUnavailable),
        },
    )
    def import_file(self, request: AuthenticatedRequest, connector_id: UUID) -> Response:
        """Copy a file of a connected drive into your uploads, to send it with a message.

        A document of Google's editors becomes Markdown, a spreadsheet the CSV of its first sheet, a
        presentation a text.
        """
        body = read(ImportInputSerializer, request.data)
        upload = imports.import_file(user=request.user, connector_id=connector_id, **body)
        return Response(UploadSerializer(upload).data, status=status.HTTP_201_CREATED)
