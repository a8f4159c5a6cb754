"""What a run has made: deliverables and files."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.filenames import harmless
from common.openapi import error_responses
from common.pagination import NEXT_PAGE, link_to_next
from common.validation import read
from common.viewsets import ViewSet
from integrations.workspaces.errors import HostBusy, HostUnavailable, WorkspaceNeedsReauth
from projects.exports import MEDIA_TYPES, file_name, render, zipped
from projects.request_serializers import ExportQuerySerializer, FilesQuerySerializer
from projects.selectors.deliverables import deliverables_of
from projects.selectors.documents import get_document
from projects.selectors.files import list_files, read_file
from projects.selectors.lookup import get_deliverable, get_run
from projects.selectors.runs import get_snapshot
from projects.selectors.subtasks import get_detail
from projects.serializers.runs import (
    DeliverableSerializer,
    FileSerializer,
    FileWithContentSerializer,
    RunDocumentSerializer,
    RunSerializer,
    SubtaskDetailSerializer,
)

_MAX_NAME = 80


class OutcomeViewSet(ViewSet):
    """The texts and files of a run."""

    @extend_schema(
        operation_id="listRunFiles",
        parameters=[FilesQuerySerializer, NEXT_PAGE],
        responses={
            200: FileWithContentSerializer(many=True),
            **error_responses(WorkspaceNeedsReauth, HostBusy, HostUnavailable),
        },
    )
    def files(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """The files that a run can see: your uploads, the repository, if it works on one, and what
        completed subtasks have written.

        Where two subtasks write one file, it is that of the later in the plan. With `path` the
        answer is that file alone, with its content, which is null where it is no text or too long.
        """
        asked = read(FilesQuerySerializer, request.query_params.dict())
        if "path" in asked:
            file, content = read_file(request.user, session_id, asked["path"])
            return Response([{**FileSerializer(file).data, "content": content}])
        page = list_files(request.user, session_id, after=asked.get("after", ""))
        answer = Response([FileSerializer(file).data for file in page.files])
        if page.next_path is not None:
            link_to_next(answer, request, after=page.next_path)
        return answer

    @extend_schema(operation_id="listDeliverables", responses=DeliverableSerializer(many=True))
    def deliverables(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """The texts that a run has made: one for each completed subtask, in the order of the plan,
        and then the final one."""
        rows = deliverables_of(get_run(request.user, session_id)).defer("content")
        return Response(DeliverableSerializer(rows, many=True).data)

    @extend_schema(operation_id="getSubtask", responses=SubtaskDetailSerializer)
    def subtask(
        self, request: AuthenticatedRequest, session_id: UUID, subtask_id: UUID
    ) -> Response:
        """A subtask with the texts of all of its attempts, their reviews and costs."""
        detail = get_detail(request.user, session_id, subtask_id)
        return Response(SubtaskDetailSerializer(detail).data)

    @extend_schema(
        operation_id="exportRun",
        parameters=[ExportQuerySerializer],
        responses={(200, "text/markdown"): str, (200, "application/json"): RunDocumentSerializer},
    )
    def export(self, request: AuthenticatedRequest, session_id: UUID) -> HttpResponse:
        """A run as a file: its goal, all texts that it has made, and what was paid to whom."""
        form = read(ExportQuerySerializer, request.query_params.dict())["format"]
        document = get_document(request.user, session_id)
        snapshot = get_snapshot(request.user, session_id)
        text = render(document, form, RunSerializer(snapshot).data, snapshot.costs)
        return _file(text, MEDIA_TYPES[form], file_name(document, form))

    @extend_schema(operation_id="downloadRun", responses={(200, "application/zip"): bytes})
    def archive(self, request: AuthenticatedRequest, session_id: UUID) -> HttpResponse:
        """All texts and files of a run, in a ZIP."""
        document = get_document(request.user, session_id)
        return _file(zipped(document), "application/zip", file_name(document, "zip"))

    @extend_schema(operation_id="downloadDeliverable", responses={(200, "text/markdown"): str})
    def download(self, request: AuthenticatedRequest, deliverable_id: UUID) -> HttpResponse:
        """A deliverable as a file."""
        deliverable = get_deliverable(request.user, deliverable_id)
        name = harmless(deliverable.name, limit=_MAX_NAME, otherwise="deliverable")
        return _file(deliverable.content, MEDIA_TYPES["md"], f"{name}.md")


def _file(content: str | bytes, media_type: str, name: str) -> HttpResponse:
    disposition = content_disposition_header(True, name)
    return HttpResponse(
        content,
        content_type=media_type,
        headers={
            "Content-Disposition": disposition or "attachment",
            "X-Content-Type-Options": "nosniff",
        },
    )
