"""`/api/conversations/{id}/messages/{message_id}/feedback`: users' feedback on replies."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from conversations.errors import OwnerOnly
from conversations.request_serializers.conversations import FeedbackInputSerializer
from conversations.serializers.messages import FeedbackSerializer
from conversations.services import messages


class FeedbackViewSet(ViewSet):
    """Feedback on replies. Operators read it, with the model and without the conversation."""

    @extend_schema(
        operation_id="rateReply",
        request=FeedbackInputSerializer,
        responses={200: FeedbackSerializer, **error_responses(OwnerOnly)},
    )
    def update(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> Response:
        """Rate a reply, in place of your earlier rating.

        The operators of the service read the rating and the comment, and not the conversation.
        """
        body = read(FeedbackInputSerializer, request.data)
        feedback = messages.rate(
            user=request.user, conversation_id=conversation_id, message_id=message_id, **body
        )
        return Response(FeedbackSerializer(feedback).data)

    @extend_schema(operation_id="deleteRating", responses={204: None, **error_responses(OwnerOnly)})
    def destroy(
        self, request: AuthenticatedRequest, conversation_id: UUID, message_id: str
    ) -> Response:
        """Delete your rating of a reply; 404 where there is none."""
        messages.unrate(user=request.user, conversation_id=conversation_id, message_id=message_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
