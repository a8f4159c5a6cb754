"""`/api/teams/me/invites`: the invitations of the user's team."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from teams.errors import (
    AlreadyMember,
    InvitationNotFound,
    NoTeam,
    RoleTooLow,
    TeamFull,
    TooManyChanges,
    TooManyInvitations,
    TooManyPending,
)
from teams.request_serializers import InviteInputSerializer
from teams.selectors.invitations import list_invitations
from teams.serializers.invitations import InvitationSerializer
from teams.services import invitations

_SENDING = (
    *(NoTeam, RoleTooLow, AlreadyMember, TeamFull),
    *(TooManyPending, TooManyInvitations, TooManyChanges),
)


class InvitationViewSet(ViewSet):
    """For the owner and admins; admins invite members, and manage the invitations of members."""

    @extend_schema(
        operation_id="listInvitations",
        parameters=PAGE_PARAMETERS,
        responses={200: InvitationSerializer(many=True), **error_responses(NoTeam, RoleTooLow)},
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """The pending invitations of your team, newest first.

        Expired ones are among them for 30 days, and can be sent again.
        """
        return NewestFirst().answer(request, list_invitations(request.user), InvitationSerializer)

    @extend_schema(
        operation_id="inviteMember",
        request=InviteInputSerializer,
        responses={201: InvitationSerializer, **error_responses(*_SENDING)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Invite somebody by e-mail, whether or not they have an account.

        The link of the mail is good for 7 days. Whoever is invited already gets another mail, and
        the link of the earlier one does not work any more.
        """
        body = read(InviteInputSerializer, request.data)
        invitation = invitations.invite(user=request.user, address=body["email"], role=body["role"])
        return Response(InvitationSerializer(invitation).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="resendInvitation",
        request=None,
        responses={200: InvitationSerializer, **error_responses(InvitationNotFound, *_SENDING)},
    )
    def resend(self, request: AuthenticatedRequest, invite_id: UUID) -> Response:
        """Send an invitation again, for another 7 days.

        The link of the earlier mail does not work any more.
        """
        invitation = invitations.resend(user=request.user, invitation_id=invite_id)
        return Response(InvitationSerializer(invitation).data)

    @extend_schema(
        operation_id="revokeInvitation",
        responses={
            204: None,
            **error_responses(NoTeam, InvitationNotFound, RoleTooLow, TooManyChanges),
        },
    )
    def destroy(self, request: AuthenticatedRequest, invite_id: UUID) -> Response:
        """Revoke an invitation.

        Its link does not work any more.
        """
        invitations.revoke(user=request.user, invitation_id=invite_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
