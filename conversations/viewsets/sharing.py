"""Shares a conversation, and reads shared ones."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.errors import NotFound
from common.openapi import error_responses
from common.viewsets import ViewSet
from conversations.errors import NothingToShare, OwnerOnly, SharingOff
from conversations.selectors.sharing import get_share, get_shared
from conversations.serializers.sharing import SharedConversationSerializer, ShareSerializer
from conversations.services import sharing

# No search engine lists it, no cache keeps it after it is revoked, and its links do not reveal it.
PRIVATE = {
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}


class ShareViewSet(ViewSet):
    """The link of a conversation: at most one."""

    @extend_schema(
        operation_id="shareConversation",
        request=None,
        responses={
            200: ShareSerializer,
            201: ShareSerializer,
            **error_responses(SharingOff, OwnerOnly, NothingToShare),
        },
    )
    def create(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """Share the conversation with anybody who has the link.

        They read the shown branch as it is now: later messages are added when it is shared again,
        which is answered with 200 and keeps the link. System instructions, reasoning and files are
        left out.
        """
        shared, is_new = sharing.share(user=request.user, conversation_id=conversation_id)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(ShareSerializer(shared).data, status=code)

    @extend_schema(
        operation_id="getShare", responses={200: ShareSerializer, **error_responses(OwnerOnly)}
    )
    def retrieve(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """The link; 404 where the conversation is not shared."""
        return Response(ShareSerializer(get_share(request.user, conversation_id)).data)

    @extend_schema(operation_id="revokeShare", responses={204: None, **error_responses(OwnerOnly)})
    def destroy(self, request: AuthenticatedRequest, conversation_id: UUID) -> Response:
        """Revoke the link.

        It never works again.
        """
        if not sharing.revoke(user=request.user, conversation_id=conversation_id):
            raise NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)


class SharedConversationViewSet(ViewSet):
    """For readers of a link. A stale Authorization header is ignored."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="getSharedConversation", responses=SharedConversationSerializer)
    def retrieve(self, request: Request, share_token: str) -> Response:
        """A shared conversation, read without signing in."""
        return Response(get_shared(share_token))

    def finalize_response(self, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(*args, **kwargs)
        for name, value in PRIVATE.items():
            response[name] = value
        return response
