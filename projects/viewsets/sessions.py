"""`/api/project/sessions`: runs, and what concerns the whole of them."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    FeatureRequired,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
    PlanRequired,
)
from billing.idempotency import read_request_key, replayed
from common.errors import NotFound
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from events.errors import InboxFull
from events.replay import describes_replay, replay_session
from integrations.workspaces.errors import HostBusy, HostUnavailable, WorkspaceNeedsReauth
from media.files.errors import UploadNotFound
from projects.errors import (
    ApplyInProgress,
    InvalidState,
    NothingCompleted,
    RunLimitReached,
    SubtaskRunning,
    TooManyAttempts,
    UnsoundPlanRefused,
)
from projects.request_serializers import (
    ControlInputSerializer,
    EstimateInputSerializer,
    MessageInputSerializer,
    PlanInputSerializer,
    ReassignInputSerializer,
    ReplaceInputSerializer,
    RunChangesInputSerializer,
    RunInputSerializer,
    RunsQuerySerializer,
)
from projects.selectors.runs import get_snapshot, list_runs, summaries_of
from projects.serializers.runs import (
    EstimateSerializer,
    MessageSerializer,
    RunRowSerializer,
    RunSerializer,
)
from projects.services import edits, estimates, finishing, messages, runs, settings, subtasks
from projects.types import STREAM

_ACTIONS = {
    "pause": runs.pause_run,
    "resume": runs.resume,
    "cancel": runs.cancel,
    "finish": finishing.finish,
    "rewrite": finishing.rewrite,
}


class SessionViewSet(ViewSet):
    """Project runs: models of several vendors work on one goal."""

    @extend_schema(
        operation_id="listRuns",
        parameters=[*PAGE_PARAMETERS, RunsQuerySerializer],
        responses=RunRowSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your runs, newest first."""
        asked = read(RunsQuerySerializer, request.query_params.dict())
        return NewestFirst().answer(
            request,
            list_runs(request.user, **asked),
            RunRowSerializer,
            objects=lambda page: summaries_of(request.user, page),
        )

    @extend_schema(
        operation_id="startRun",
        parameters=[IDEMPOTENCY_KEY],
        request=RunInputSerializer,
        responses={
            201: RunSerializer,
            **error_responses(
                *(PlanRequired, InsufficientBalance, InsufficientForRequest),
                *(IdempotencyMismatch, RunLimitReached, UploadNotFound, ProviderNotAvailable),
                *(FeatureRequired, NotFound, WorkspaceNeedsReauth, HostBusy, HostUnavailable),
            ),
        },
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Start a run.

        A model plans the work; then models of several vendors carry out the subtasks, and models of
        other vendors review the results. Follow the events to see them at it.
        """
        body = read(RunInputSerializer, request.data)
        run, is_replayed = runs.start(
            user=request.user, request_key=read_request_key(request, body), **body
        )
        shown = RunSerializer(get_snapshot(request.user, run.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED, headers=replayed(is_replayed))

    @extend_schema(
        operation_id="estimateRun",
        request=EstimateInputSerializer,
        responses={
            200: EstimateSerializer,
            **error_responses(PlanRequired, ProviderNotAvailable),
        },
    )
    def estimate(self, request: AuthenticatedRequest) -> Response:
        """What a run would cost that goes as most do, and between what most are."""
        body = read(EstimateInputSerializer, request.data)
        return Response(EstimateSerializer(estimates.estimate(user=request.user, **body)).data)

    @extend_schema(operation_id="getRun", responses=RunSerializer)
    def retrieve(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """A run with its plan, subtasks, deliverables and messages.

        It is as it was after event `last_seq`: a client that follows the events from there
        misses nothing.
        """
        return _shown(request, session_id)

    @extend_schema(
        operation_id="updateRun", request=RunChangesInputSerializer, responses=RunSerializer
    )
    def partial_update(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Rename a run, or change its budget, the length of its answers, and whether you are told
        by mail."""
        changes = read(RunChangesInputSerializer, request.data)
        settings.change_settings(user=request.user, run_id=session_id, **changes)
        return _shown(request, session_id)

    @extend_schema(operation_id="deleteRun", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Delete a run for good, with what it has made and its events.

        Calls that run are stopped, and billed for the prompt and what has come. Its sockets are
        closed with 4403. What it has cost stays in your usage.
        """
        runs.delete(user=request.user, run_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @describes_replay
    @extend_schema(operation_id="listRunEvents")
    def events(self, request: AuthenticatedRequest, session_id: UUID) -> HttpResponse:
        """The events of a run, in order, exactly as its socket delivers them.

        Page with `X-Next-Seq` until the array is empty. Then open the socket, replay once more, and
        drop duplicates by their `seq`: nothing is lost.
        """
        return replay_session(request, STREAM, session_id)

    @extend_schema(
        operation_id="controlRun",
        request=ControlInputSerializer,
        responses={
            200: RunSerializer,
            **error_responses(InvalidState, NothingCompleted, RunLimitReached, ApplyInProgress),
        },
    )
    def control(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Pause, resume, cancel or finish a run, or have its final text written again.

        A pause takes effect at once: no call begins, and those that run go on to their end. A
        cancellation stops them, and bills what they have produced. Resuming tries again what has
        failed. `finish` completes a run with the parts that are there, and its final text names
        what is missing; `rewrite` has the final text written again. What the run already is, it
        stays, without another event.
        """
        body = read(ControlInputSerializer, request.data)
        _ACTIONS[body["action"]](user=request.user, run_id=session_id)
        return _shown(request, session_id)

    @extend_schema(
        operation_id="sendRunMessage",
        parameters=[IDEMPOTENCY_KEY],
        request=MessageInputSerializer,
        responses={
            202: MessageSerializer,
            **error_responses(
                *(InvalidState, InboxFull, RunLimitReached, ApplyInProgress, IdempotencyMismatch)
            ),
        },
    )
    def message(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Send a message into a run.

        The planner answers it: with words, with notes to those who work, or with another plan. The
        next call of any subtask is sent it, too. A run that has completed or failed goes on; where
        the answer changes nothing of the plan, it ends as it was.
        """
        body = read(MessageInputSerializer, request.data)
        message, is_replayed = messages.send(
            user=request.user,
            run_id=session_id,
            request_key=read_request_key(request, body),
            **body,
        )
        shown = MessageSerializer(message).data
        return Response(shown, status=status.HTTP_202_ACCEPTED, headers=replayed(is_replayed))

    @extend_schema(
        operation_id="reassignSubtask",
        parameters=[IDEMPOTENCY_KEY],
        request=ReassignInputSerializer,
        responses={
            202: RunSerializer,
            **error_responses(
                *(InvalidState, TooManyAttempts, RunLimitReached, ApplyInProgress),
                *(ProviderNotAvailable, IdempotencyMismatch),
            ),
        },
    )
    def reassign(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Give a subtask to another model.

        One that is being worked on is stopped, and billed for what it has produced. Where it had
        ended, it begins again, and what depends on it; so does a run that had ended.
        """
        body = read(ReassignInputSerializer, request.data)
        is_replayed = subtasks.reassign(
            user=request.user,
            run_id=session_id,
            request_key=read_request_key(request, body),
            **body,
        )
        shown = RunSerializer(get_snapshot(request.user, session_id)).data
        return Response(shown, status=status.HTTP_202_ACCEPTED, headers=replayed(is_replayed))

    @extend_schema(
        operation_id="replaceSubtaskResult",
        request=ReplaceInputSerializer,
        responses={
            200: RunSerializer,
            **error_responses(
                *(InvalidState, SubtaskRunning, TooManyAttempts, RunLimitReached, ApplyInProgress)
            ),
        },
    )
    def replace(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Write the result of a subtask yourself, which is not billed.

        What depends on it begins again, and the final text is written again; so does a run that had
        ended. These calls are billed.
        """
        body = read(ReplaceInputSerializer, request.data)
        subtasks.replace(user=request.user, run_id=session_id, **body)
        return _shown(request, session_id)

    @extend_schema(
        operation_id="updateRunPlan",
        request=PlanInputSerializer,
        responses={
            200: RunSerializer,
            **error_responses(InvalidState, UnsoundPlanRefused, RunLimitReached, ApplyInProgress),
        },
    )
    def plan(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Change the plan of a run: add, change, remove and reorder subtasks.

        All of it is done, or nothing. A run that has completed or failed goes on. One that was
        started with `approve_plan` begins with the work when it is resumed.
        """
        body = read(PlanInputSerializer, request.data)
        edits.edit_plan(user=request.user, run_id=session_id, changes=body)
        return _shown(request, session_id)


def _shown(request: AuthenticatedRequest, session_id: UUID) -> Response:
    return Response(RunSerializer(get_snapshot(request.user, session_id)).data)
