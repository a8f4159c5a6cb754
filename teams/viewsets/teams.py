"""`/api/teams/me`: the user's team."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from teams.errors import AlreadyInTeam, NoTeam, RoleTooLow, TooManyChanges, TooManyTeams
from teams.request_serializers import TeamInputSerializer
from teams.selectors.teams import get_membership
from teams.serializers.teams import TeamSerializer
from teams.services import teams


class TeamViewSet(ViewSet):
    """Each user is in at most one team."""

    @extend_schema(
        operation_id="getTeam", responses={200: TeamSerializer, **error_responses(NoTeam)}
    )
    def retrieve(self, request: AuthenticatedRequest) -> Response:
        """Your team, with its members."""
        return Response(shown(request))

    @extend_schema(
        operation_id="createTeam",
        request=TeamInputSerializer,
        responses={201: TeamSerializer, **error_responses(AlreadyInTeam, TooManyTeams)},
    )
    @transaction.atomic
    def create(self, request: AuthenticatedRequest) -> Response:
        """Create a team, which you own."""
        teams.create(user=request.user, **read(TeamInputSerializer, request.data))
        return Response(shown(request), status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="updateTeam",
        request=TeamInputSerializer,
        responses={200: TeamSerializer, **error_responses(NoTeam, RoleTooLow, TooManyChanges)},
    )
    @transaction.atomic
    def partial_update(self, request: AuthenticatedRequest) -> Response:
        """Rename your team.

        The owner and admins may.
        """
        teams.rename(user=request.user, **read(TeamInputSerializer, request.data))
        return Response(shown(request))

    @extend_schema(
        operation_id="deleteTeam", responses={204: None, **error_responses(NoTeam, RoleTooLow)}
    )
    def destroy(self, request: AuthenticatedRequest) -> Response:
        """Delete your team, whoever is in it.

        The owner may. Members are in no team then, and invitations are void.
        """
        teams.delete(user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def shown(request: AuthenticatedRequest) -> object:
    """The user's team, as it is answered.

    An act and its answer are one transaction, which holds the lock of the act: whoever leaves at
    the same moment leaves after the answer is read.
    """
    return TeamSerializer(get_membership(request.user)).data
