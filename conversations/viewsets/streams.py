"""`/api/conversations/{id}/stream`: resuming the stream of a running reply."""

from uuid import UUID

from asgiref.sync import async_to_sync
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.api import AnyAccepted
from common.openapi import error_responses
from common.viewsets import ViewSet
from conversations.frames import HEADERS
from conversations.models import Conversation, Message
from conversations.replies.following import find_head, frames_from_log
from conversations.replies.permissions import permission_of
from conversations.request_serializers.sending import LAST_EVENT_ID, read_last_event_id
from conversations.selectors.conversations import get_conversation
from conversations.selectors.messages import get_reply
from events.errors import TooManySockets
from server.streaming_response import streaming_response

_stream = extend_schema(
    parameters=[LAST_EVENT_ID],
    responses={(200, "text/event-stream"): str, 204: None, **error_responses(TooManySockets)},
)


class StreamViewSet(ViewSet):
    """Streams of running replies, on any web process, any number of times."""

    content_negotiation_class = AnyAccepted

    @_stream
    @extend_schema(operation_id="streamConversation")
    def of_conversation(
        self, request: AuthenticatedRequest, conversation_id: UUID
    ) -> HttpResponseBase:
        """The running reply of a conversation.

        It is sent from its start, or from after `Last-Event-ID`, to its end. 204: none is running;
        ended replies are in the conversation.
        """
        conversation = get_conversation(request.user, conversation_id)
        running = conversation.messages.filter(status=Message.Status.RUNNING)
        return _follow(request, conversation, running.first())

    @_stream
    @extend_schema(operation_id="streamReply")
    def of_message(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> HttpResponseBase:
        """A running reply, or the newest reply to a message of yours.

        As for the conversation. 204: it has ended.
        """
        conversation = get_conversation(request.user, conversation_id)
        return _follow(request, conversation, get_reply(request.user, conversation_id, message_id))


def _follow(
    request: AuthenticatedRequest, conversation: Conversation, reply: Message | None
) -> HttpResponseBase:
    seen = read_last_event_id(request)
    if reply is None or reply.status != Message.Status.RUNNING:
        return Response(status=status.HTTP_204_NO_CONTENT)
    head = async_to_sync(find_head)(request.auth, reply)
    permission = permission_of(request.user, conversation)
    frames = frames_from_log(request.auth, reply, head, seen, permission)
    return streaming_response(request._request, frames, HEADERS, may_refuse=True)
