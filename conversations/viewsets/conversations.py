"""`/api/conversations`: conversations as a whole."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from conversations.errors import (
    OwnerOnly,
    ReadOnly,
    SpaceNotFound,
    TooManyConversations,
    TooManyNewConversations,
)
from conversations.exports import MEDIA_TYPES, file_name, render
from conversations.models import Space
from conversations.request_serializers.conversations import (
    ConversationChangesInputSerializer,
    ConversationInputSerializer,
    ConversationsDeletionInputSerializer,
    ConversationsQuerySerializer,
    DetailQuerySerializer,
    ExportQuerySerializer,
)
from conversations.selectors.conversations import (
    find_space,
    get_detail,
    get_listed,
    list_conversations,
)
from conversations.selectors.search import Search, in_time, search_for
from conversations.serializers.conversations import (
    ConversationDetailSerializer,
    ConversationRowSerializer,
    ConversationSerializer,
    DeletedConversationsSerializer,
)
from conversations.serializers.documents import ConversationDocumentSerializer
from conversations.services import conversations
from events.replay import FOLLOW_FROM
from events.selectors import get_head
from events.types import USER_STREAM


class ConversationViewSet(ViewSet):
    """Your conversations."""

    @extend_schema(
        operation_id="listConversations",
        parameters=[*PAGE_PARAMETERS, ConversationsQuerySerializer, FOLLOW_FROM],
        responses={200: ConversationRowSerializer(many=True), **error_responses(SpaceNotFound)},
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your conversations: first the pinned ones, then the others; within each, the most
        recently active first.

        With `space_id` those of a space of yours, or of one that is shared with you. A socket
        `/api/ws` that is opened with the `X-Next-Seq` of the answer brings all later changes.
        """
        asked = read(ConversationsQuerySerializer, request.query_params.dict())
        space_id = asked.get("space_id")
        space = None if space_id is None else find_space(request.user, space_id)
        # Read before the list: what changes meanwhile is told once more, and nothing is missed.
        head = get_head(request.user, USER_STREAM, request.user.pk)
        if not asked.get("q"):
            answer = _page(request, space)
        else:
            with in_time():
                search = search_for(space.account if space else request.user, asked["q"])
                answer = _page(request, space, search)
        answer["X-Next-Seq"] = str(head)
        return answer

    @extend_schema(
        operation_id="createConversation",
        request=ConversationInputSerializer,
        responses={
            201: ConversationSerializer,
            **error_responses(
                SpaceNotFound, OwnerOnly, TooManyConversations, TooManyNewConversations
            ),
        },
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Create an empty conversation."""
        body = read(ConversationInputSerializer, request.data)
        conversation = conversations.create(user=request.user, **body)
        return Response(_shown(request, conversation.pk), status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="getConversation",
        parameters=[DetailQuerySerializer],
        responses=ConversationDetailSerializer,
    )
    def retrieve(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """A conversation with all its messages.

        The text of a running reply, `running_message_id`, is the text so far. A long conversation
        can be read in pages: `?messages=none` here, and its messages separately.
        """
        asked = read(DetailQuerySerializer, request.query_params.dict())
        if asked["messages"] == "none":
            return Response({**_shown(request, conversation_id), "messages": None})
        detail = get_detail(request.user, conversation_id)
        return Response(ConversationDetailSerializer(detail).data)

    @extend_schema(
        operation_id="updateConversation",
        request=ConversationChangesInputSerializer,
        responses={200: ConversationSerializer, **error_responses(ReadOnly, OwnerOnly)},
    )
    def partial_update(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """Rename a conversation, move or pin it, show another branch, change its model or
        instructions.

        A model never replaces a title that you have given. Who writes in a space that is shared
        with them may change the title and the branch that is shown.
        """
        body = read(ConversationChangesInputSerializer, request.data)
        conversations.update(user=request.user, conversation_id=conversation_id, **body)
        return Response(_shown(request, conversation_id))

    @extend_schema(
        operation_id="deleteConversation", responses={204: None, **error_responses(OwnerOnly)}
    )
    def destroy(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """Delete a conversation for good, with its files and its link.

        A running reply is stopped, and billed for the prompt and its text so far.
        """
        conversations.delete(user=request.user, conversation_id=conversation_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="deleteConversations",
        request=ConversationsDeletionInputSerializer,
        responses=DeletedConversationsSerializer,
    )
    def destroy_all(self, request: AuthenticatedRequest) -> Response:
        """Delete several conversations for good, each as if it were deleted alone.

        All of yours are deleted, or none where that fails. Ids of others, and of conversations that
        are gone already, are left out of the answer's `deleted`.
        """
        ids = read(ConversationsDeletionInputSerializer, request.data)["ids"]
        deleted = conversations.delete_all(user=request.user, conversation_ids=ids)
        return Response(DeletedConversationsSerializer({"deleted": deleted}).data)

    @extend_schema(
        operation_id="exportConversation",
        parameters=[ExportQuerySerializer],
        responses={
            (200, "text/markdown"): str,
            (200, "application/json"): ConversationDocumentSerializer,
        },
    )
    def export(self, request: AuthenticatedRequest, conversation_id: UUID) -> HttpResponse:
        """A conversation as a file."""
        form = read(ExportQuerySerializer, request.query_params.dict())["format"]
        detail = get_detail(request.user, conversation_id)
        disposition = content_disposition_header(True, file_name(detail, form))
        return HttpResponse(
            render(detail, form),
            content_type=MEDIA_TYPES[form],
            headers={"Content-Disposition": disposition or "attachment"},
        )


def _page(
    request: AuthenticatedRequest, space: Space | None, search: Search | None = None
) -> Response:
    found = list_conversations(request.user, space=space, search=search)
    pages = NewestFirst("pinned", "activity")
    page = pages.paginate_queryset(found, request)
    matches = search.matches([row.pk for row in page]) if search else {}
    rows = ConversationRowSerializer(page, many=True, context={"matches": matches})
    return pages.get_paginated_response(rows.data)


def _shown(request: AuthenticatedRequest, conversation_id: UUID) -> dict[str, Any]:
    return ConversationSerializer(get_listed(request.user, conversation_id)).data
