"""`/api/project/workspaces`: users' accounts at Git hosts."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from billing.errors import FeatureRequired
from common.openapi import error_responses
from common.pagination import NEXT_PAGE, PAGE_PARAMETERS, NewestFirst, link_to_next
from common.validation import read
from common.viewsets import ViewSet
from integrations.connectors.errors import ConnectorNeedsReauth
from integrations.workspaces.errors import (
    HostBusy,
    HostUnavailable,
    TooManyWorkspaces,
    WorkspaceNeedsReauth,
)
from integrations.workspaces.request_serializers import (
    RepositoriesQuerySerializer,
    WorkspaceChangesInputSerializer,
    WorkspaceInputSerializer,
)
from integrations.workspaces.selectors.workspaces import get_workspace, list_workspaces
from integrations.workspaces.serializers import RepositorySerializer, WorkspaceSerializer
from integrations.workspaces.services import workspaces
from integrations.workspaces.services.hosts import list_repositories


class WorkspaceViewSet(ViewSet):
    """Your accounts at GitHub and GitLab, whose repositories runs can work on."""

    @extend_schema(
        operation_id="listWorkspaces",
        parameters=PAGE_PARAMETERS,
        responses=WorkspaceSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your workspaces, newest first."""
        return NewestFirst().answer(request, list_workspaces(request.user), WorkspaceSerializer)

    @extend_schema(
        operation_id="createWorkspace",
        request=WorkspaceInputSerializer,
        responses={
            201: WorkspaceSerializer,
            **error_responses(
                FeatureRequired, TooManyWorkspaces, ConnectorNeedsReauth, HostBusy, HostUnavailable
            ),
        },
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Connect your account at a host, by one of your connectors or with a token.

        A token is tried at once. GitHub: a fine-grained token that may read and write contents
        and pull requests, or a classic one with `repo`. GitLab: a personal or project token with
        `api`.
        """
        body = read(WorkspaceInputSerializer, request.data)
        is_by_connector = "connector_id" in body
        connect = workspaces.connect_by if is_by_connector else workspaces.connect
        workspace = connect(user=request.user, **body)
        return Response(WorkspaceSerializer(workspace).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="getWorkspace", responses=WorkspaceSerializer)
    def retrieve(self, request: AuthenticatedRequest, workspace_id: UUID) -> Response:
        """One of your workspaces."""
        return Response(WorkspaceSerializer(get_workspace(request.user, workspace_id)).data)

    @extend_schema(
        operation_id="updateWorkspace",
        request=WorkspaceChangesInputSerializer,
        responses={200: WorkspaceSerializer, **error_responses(HostBusy, HostUnavailable)},
    )
    def partial_update(self, request: AuthenticatedRequest, workspace_id: UUID) -> Response:
        """Rename a workspace, or give it a new token of the same account."""
        body = read(WorkspaceChangesInputSerializer, request.data)
        workspace = workspaces.update(user=request.user, workspace_id=workspace_id, **body)
        return Response(WorkspaceSerializer(workspace).data)

    @extend_schema(operation_id="deleteWorkspace", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, workspace_id: UUID) -> Response:
        """Disconnect a workspace. Its token is forgotten; revoke it at the host as well."""
        workspaces.disconnect(user=request.user, workspace_id=workspace_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="listRepositories",
        parameters=[RepositoriesQuerySerializer, NEXT_PAGE],
        responses={
            200: RepositorySerializer(many=True),
            **error_responses(WorkspaceNeedsReauth, HostBusy, HostUnavailable),
        },
    )
    def repos(self, request: AuthenticatedRequest, workspace_id: UUID) -> Response:
        """The repositories that the workspace reaches, the latest changed first.

        A page may be short or empty although there is a next one: go on as `Link` says.
        """
        asked = read(RepositoriesQuerySerializer, request.query_params.dict())
        found = list_repositories(request.user, workspace_id, query=asked["q"], page=asked["page"])
        answer = Response(RepositorySerializer(found.repositories, many=True).data)
        if found.next_page is not None:
            link_to_next(answer, request, page=found.next_page)
        return answer
