"""`/api/project/sessions/{id}/changes`: what a run would change in its repository."""

from uuid import UUID

from asgiref.sync import async_to_sync
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from billing.errors import IdempotencyMismatch
from billing.idempotency import read_request_key, replayed
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from integrations.workspaces.errors import (
    HostBusy,
    HostRefused,
    HostUnavailable,
    WorkspaceGone,
    WorkspaceNeedsReauth,
)
from projects.errors import (
    ApplyInProgress,
    ClaimLapsed,
    ConflictChanged,
    NoConflict,
    NothingStaged,
    RunExecuting,
)
from projects.request_serializers import (
    ApplyInputSerializer,
    DiscardInputSerializer,
    ResolveInputSerializer,
)
from projects.selectors.changes import get_changes
from projects.serializers.changes import ApplySerializer, ChangesSerializer
from projects.services import applies, resolving
from work.leases.keeper import ensure_lease


class ChangesViewSet(ViewSet):
    """The staged changes of a run."""

    @extend_schema(operation_id="getRunChanges", responses=ChangesSerializer)
    def retrieve(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """What the run would change: each file with its content, and its difference to the
        repository. Nothing is written yet."""
        return Response(ChangesSerializer(get_changes(request.user, session_id)).data)

    @extend_schema(
        operation_id="applyRunChanges",
        parameters=[IDEMPOTENCY_KEY],
        request=ApplyInputSerializer,
        responses={
            200: ApplySerializer,
            **error_responses(
                *(NothingStaged, WorkspaceGone, RunExecuting, ApplyInProgress, ClaimLapsed),
                *(WorkspaceNeedsReauth, HostRefused, IdempotencyMismatch),
                *(HostBusy, HostUnavailable),
            ),
        },
    )
    def apply(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Write the staged files to the repository, in one commit.

        Each file is checked on its own: one that somebody has changed meanwhile is left out, says
        why, and stays staged. The others are written.
        """
        body = read(ApplyInputSerializer, request.data)
        order, is_replayed = applies.apply_changes(
            user=request.user,
            run_id=session_id,
            request_key=read_request_key(request, body),
            owner_id=async_to_sync(ensure_lease)(),
            **body,
        )
        return Response(ApplySerializer(order).data, headers=replayed(is_replayed))

    @extend_schema(
        operation_id="resolveRunConflicts",
        request=ResolveInputSerializer,
        responses={
            200: ChangesSerializer,
            **error_responses(NothingStaged, NoConflict, ConflictChanged, ApplyInProgress),
        },
    )
    def resolve(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Give the texts of files that somebody else has changed, too, with both sides.

        They are staged in the place of the run's own, and `apply` writes them. It costs nothing,
        and nothing begins again.
        """
        body = read(ResolveInputSerializer, request.data)
        resolving.resolve(user=request.user, run_id=session_id, **body)
        return Response(ChangesSerializer(get_changes(request.user, session_id)).data)

    @extend_schema(
        operation_id="discardRunChanges",
        request=DiscardInputSerializer,
        responses={
            200: ChangesSerializer,
            **error_responses(
                *(NothingStaged, ApplyInProgress, WorkspaceNeedsReauth),
                *(HostRefused, HostBusy, HostUnavailable),
            ),
        },
    )
    def discard(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Discard the staged files, or some of them. Nothing is written."""
        body = read(DiscardInputSerializer, request.data)
        applies.discard(user=request.user, run_id=session_id, **body)
        return Response(ChangesSerializer(get_changes(request.user, session_id)).data)
