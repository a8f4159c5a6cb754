"""`/api/conversations/{id}/messages`: reading, sending, answering again, stopping."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from ai.inference.errors import UpstreamFailed
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    EmailUnverified,
    FreeBudgetSpent,
    FreeLimit,
    FreeModelLocked,
    IdempotencyInProgress,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
)
from billing.idempotency import REPLAYED, read_request_key
from common.api import AnyAccepted
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.pagination import TWO_WAY_PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from conversations.errors import (
    ConversationFull,
    MessageExists,
    MessageNotFound,
    MessageTooLong,
    OwnerOnly,
    ReadOnly,
    ReplyDeleted,
    ReplyRunning,
)
from conversations.frames import HEADERS
from conversations.models import Conversation, Message
from conversations.replies.answers import frames_of, json_of
from conversations.replies.following import stored_frames
from conversations.replies.launch import launch
from conversations.replies.permissions import permission_of
from conversations.replies.running import Reply
from conversations.request_serializers.conversations import MessagesQuerySerializer
from conversations.request_serializers.sending import ReplyInputSerializer, SendInputSerializer
from conversations.selectors.conversations import get_conversation, get_writable
from conversations.selectors.history import messages_of, page_of_states
from conversations.selectors.messages import (
    find_earlier,
    find_sent,
    get_message,
    is_answer,
    state_of,
)
from conversations.serializers.messages import ExchangeSerializer, MessageSerializer
from conversations.services import messages, sending
from conversations.services.preparation import (
    PreparedReply,
    prepare_message,
    prepare_regeneration,
    prepare_repeat,
)
from conversations.services.stopping import stop
from events.hub import get_hub
from server.streaming_response import streaming_response
from work.jobs.errors import TooManyRuns

_REFUSALS = (
    ReadOnly,
    InsufficientBalance,
    InsufficientForRequest,
    FreeLimit,
    FreeModelLocked,
    EmailUnverified,
    ReplyRunning,
    ConversationFull,
    IdempotencyInProgress,
    IdempotencyMismatch,
    MessageTooLong,
    TooManyRuns,
    ProviderNotAvailable,
    FreeBudgetSpent,
    UpstreamFailed,
)
# Generators of clients take the first one for the typed answer: that of `"stream": false`.
_ANSWERS: dict[Any, Any] = {
    (200, "application/json"): ExchangeSerializer,
    (200, "text/event-stream"): str,
}
_JSON = {"Content-Type": "application/json"}


class MessageViewSet(ViewSet):
    """Messages and replies. `stream` in the body chooses the form of the answer, not `Accept`."""

    content_negotiation_class = AnyAccepted

    @extend_schema(
        operation_id="listMessages",
        parameters=[*TWO_WAY_PAGE_PARAMETERS, MessagesQuerySerializer],
        responses={200: MessageSerializer(many=True), **error_responses(MessageNotFound)},
    )
    def list(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """The messages of a conversation in pages, newest first.

        `before` leads to older ones and `after` to newer ones, from any message on.
        """
        conversation = get_conversation(request.user, conversation_id)
        asked = read(MessagesQuerySerializer, request.query_params.dict())
        pages = NewestFirst(both_ways=True)
        found = messages_of(conversation, **asked)
        page = [row.pk for row in pages.paginate_queryset(found, request)]
        states = page_of_states(request.user, conversation, page)
        shown = MessageSerializer().to_representation
        return pages.get_paginated_response([shown(state) for state in states])

    @extend_schema(operation_id="getMessage", responses=MessageSerializer)
    def retrieve(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> Response:
        """A message.

        The text of a running reply is the text so far.
        """
        message = get_message(request.user, conversation_id, message_id)
        return Response(MessageSerializer(state_of(request.user, message)).data)

    @extend_schema(
        operation_id="deleteMessage", responses={204: None, **error_responses(OwnerOnly)}
    )
    def destroy(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> Response:
        """Delete a message, with all that follow it on any branch, for good.

        A running reply among them is stopped, and billed for the prompt and its text so far. If the
        end of the shown branch is deleted, the newest remaining message of that branch is shown. A
        link to the conversation keeps its snapshot.
        """
        messages.delete(user=request.user, conversation_id=conversation_id, message_id=message_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="sendMessage",
        parameters=[IDEMPOTENCY_KEY],
        request=SendInputSerializer,
        responses=_ANSWERS
        | error_responses(*_REFUSALS, MessageNotFound, ReplyDeleted, MessageExists),
    )
    def create(self, request: AuthenticatedRequest, conversation_id: UUID) -> HttpResponseBase:
        """Send a message, and have it answered.

        The reply is a stream of server-sent events, in the form of the AI SDK's UI message stream
        (version 1), that ends with its cost; with `"stream": false`, one JSON when it has ended, or
        the error of a reply that has failed without any text, at no cost. Errors before the call,
        with nothing billed, come instead of the stream. A reply is written to its end and billed,
        whether anybody reads it or not, unless it is stopped.

        A message with the `parent_id` of another one is its sibling, on a branch of its own. A
        message with an `id` that is sent again is answered as with an `Idempotency-Key`.
        """
        conversation = get_writable(request.user, conversation_id)
        body = read(SendInputSerializer, request.data)
        prepared = partial(prepare_message, request.user, conversation)
        return _answer(request, conversation, body, prepared)

    @extend_schema(
        operation_id="regenerateReply",
        parameters=[IDEMPOTENCY_KEY],
        request=ReplyInputSerializer,
        responses=_ANSWERS | error_responses(*_REFUSALS),
    )
    def regenerate(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> HttpResponseBase:
        """Have a message answered once more.

        The new reply is a sibling of the old one, which stays. `message_id` names the old reply, or
        the message that it answers. The model of the old reply writes the new one, if none is
        named. The answer has the form of that to a sent message.
        """
        conversation = get_writable(request.user, conversation_id)
        message = get_message(request.user, conversation_id, message_id)
        body = read(ReplyInputSerializer, request.data)
        prepared = partial(prepare_regeneration, request.user, conversation, message)
        return _answer(request, conversation, body, prepared)

    @extend_schema(
        operation_id="stopReply",
        request=None,
        responses={200: MessageSerializer, 202: MessageSerializer, **error_responses(ReadOnly)},
    )
    def stop(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> Response:
        """Stop a reply, by its id or that of the message that it answers.

        202: it ends in a moment, `cancelled`, with its text so far, which is billed. Where there is
        no text yet, or the model's reasoning is not shown, its call continues until its cost is
        known; `usage` is set then. 200: it had ended before.
        """
        reply = stop(user=request.user, conversation_id=conversation_id, message_id=message_id)
        ends = reply.status == Message.Status.RUNNING
        return Response(
            MessageSerializer(state_of(request.user, reply)).data,
            status=status.HTTP_202_ACCEPTED if ends else status.HTTP_200_OK,
        )


def _answer(
    request: AuthenticatedRequest,
    conversation: Conversation,
    body: dict[str, Any],
    prepared: Callable[..., PreparedReply],
) -> HttpResponseBase:
    """Start the reply that the body asks for, and send it; or the reply of the same request where
    that was sent before."""
    # The same request may be sent for a stream, and again without one.
    is_streamed = body.pop("stream")
    key = read_request_key(request, body)
    earlier = find_earlier(request.user, key) or find_sent(request.user, conversation, body)
    if earlier is not None and is_answer(earlier):
        # Before it is prepared: that may be refused now.
        return _replay(request, earlier, is_streamed)
    if earlier is not None:
        prepared = partial(prepare_repeat, request.user, conversation, earlier)
    request_id = request._request.request_id  # type: ignore[attr-defined]
    start = partial(
        sending.start, request_key=key, request_id=request_id, prepared=prepared(**body)
    )
    reply = launch(start)
    if isinstance(reply, Reply):
        return _live(request, conversation, reply, is_streamed)
    return _replay(request, reply, is_streamed)


def _live(
    request: AuthenticatedRequest, conversation: Conversation, reply: Reply, is_streamed: bool
) -> HttpResponseBase:
    """The stream ends early where the session is ended, or the conversation is not shared with the
    reader any more; the reply continues without this reader."""
    permission = permission_of(request.user, conversation)

    def guard(end: Callable[[], None]) -> AbstractContextManager[None]:
        return get_hub().watched(request.auth, end, permission)

    if is_streamed:
        return streaming_response(request._request, frames_of(reply), HEADERS, guard)
    question = MessageSerializer(state_of(request.user, reply.started.question)).data
    answer = json_of(reply, question)
    return streaming_response(request._request, answer, _JSON, guard, may_refuse=True)


def _replay(request: AuthenticatedRequest, reply: Message, is_streamed: bool) -> HttpResponseBase:
    state = state_of(request.user, reply)
    if is_streamed:
        return HttpResponse(stored_frames(reply, state), headers=HEADERS | REPLAYED)
    question = get_message(request.user, reply.conversation_id, cast(UUID, reply.parent_id))
    exchange = {
        "user_message": state_of(request.user, question),
        "message": state,
        "usage": state.usage,
    }
    return Response(ExchangeSerializer(exchange).data, headers=REPLAYED)
