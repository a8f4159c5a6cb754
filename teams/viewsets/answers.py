"""`/api/teams/invites/{token}`: invitations, for whoever has the mail."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.viewsets import ViewSet
from teams.errors import (
    AddressNotVerified,
    AlreadyInTeam,
    InvitationForOther,
    InvitationNotFound,
    TeamFull,
)
from teams.selectors.invitations import get_received
from teams.serializers.invitations import ReceivedInvitationSerializer
from teams.serializers.teams import TeamSerializer
from teams.services import answers
from teams.viewsets.teams import shown

# No cache keeps what a link shows, and links on the page do not reveal it.
_PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


class ReceivedInvitationViewSet(ViewSet):
    """Whoever has the token reads the mail of the address, and may have no account yet. A stale
    Authorization header is ignored."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="getReceivedInvitation",
        responses={200: ReceivedInvitationSerializer, **error_responses(InvitationNotFound)},
    )
    def retrieve(self, request: Request, token: str) -> Response:
        """An invitation that you have received: which team, and who invites you."""
        shown_to_anybody = ReceivedInvitationSerializer(get_received(token)).data
        return Response(shown_to_anybody, headers=_PRIVATE)

    @extend_schema(
        operation_id="declineInvitation",
        request=None,
        responses={204: None, **error_responses(InvitationNotFound)},
    )
    def decline(self, request: Request, token: str) -> Response:
        """Decline an invitation, with or without an account."""
        answers.decline(token=token)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AcceptanceViewSet(ViewSet):
    """For signed-in users."""

    @extend_schema(
        operation_id="acceptInvitation",
        request=None,
        responses={
            200: TeamSerializer,
            **error_responses(
                InvitationNotFound,
                InvitationForOther,
                AddressNotVerified,
                AlreadyInTeam,
                TeamFull,
            ),
        },
    )
    @transaction.atomic
    def accept(self, request: AuthenticatedRequest, token: str) -> Response:
        """Accept an invitation: you are in its team then.

        Your account has the invited address, and the address is confirmed.
        """
        answers.accept(user=request.user, token=token)
        return Response(shown(request))
