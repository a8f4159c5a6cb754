"""`/api/teams/me/members`, leaving, and the transfer of ownership."""

from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from teams.errors import (
    MemberNotFound,
    NoTeam,
    OwnRole,
    RoleTooLow,
    TooManyChanges,
    TransferFirst,
    TransferToOneself,
)
from teams.request_serializers import RoleInputSerializer, TransferInputSerializer
from teams.serializers.teams import MemberSerializer, TeamSerializer
from teams.services import members
from teams.viewsets.teams import shown

_REFUSALS = error_responses(NoTeam, MemberNotFound, OwnRole, RoleTooLow, TooManyChanges)


class MemberViewSet(ViewSet):
    """Other members of the user's team."""

    @extend_schema(
        operation_id="changeMemberRole",
        request=RoleInputSerializer,
        responses={200: MemberSerializer, **_REFUSALS},
    )
    def partial_update(self, request: AuthenticatedRequest, member_id: UUID) -> Response:
        """Change a member's role.

        The owner may. Pending invitations that the member has sent and could not send now are
        revoked.
        """
        body = read(RoleInputSerializer, request.data)
        member = members.change_role(user=request.user, member_id=member_id, **body)
        return Response(MemberSerializer(member).data)

    @extend_schema(operation_id="removeMember", responses={204: None, **_REFUSALS})
    def destroy(self, request: AuthenticatedRequest, member_id: UUID) -> Response:
        """Remove a member.

        The owner removes anybody else, admins remove members. Pending invitations that the member
        has sent are revoked.
        """
        members.remove(user=request.user, member_id=member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OwnMembershipViewSet(ViewSet):
    """The user's own membership."""

    @extend_schema(
        operation_id="leaveTeam",
        request=None,
        responses={204: None, **error_responses(NoTeam, TransferFirst)},
    )
    def leave(self, request: AuthenticatedRequest) -> Response:
        """Leave your team.

        The last member takes the team along: it is deleted. An owner with others in the team
        transfers it first. Pending invitations that you have sent are revoked.
        """
        members.leave(user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="transferOwnership",
        request=TransferInputSerializer,
        responses={
            200: TeamSerializer,
            **error_responses(
                NoTeam, MemberNotFound, RoleTooLow, TransferToOneself, TooManyChanges
            ),
        },
    )
    @transaction.atomic
    def transfer(self, request: AuthenticatedRequest) -> Response:
        """Make another member the owner.

        The owner may, and is an admin afterwards.
        """
        body = read(TransferInputSerializer, request.data)
        members.transfer_ownership(user=request.user, **body)
        return Response(shown(request))
