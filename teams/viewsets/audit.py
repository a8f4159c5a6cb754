"""`/api/teams/me/audit`: what was done in the user's team."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.viewsets import ViewSet
from teams.errors import NoTeam, RoleTooLow
from teams.selectors.audit import list_entries
from teams.serializers.teams import AuditEntrySerializer


class AuditViewSet(ViewSet):
    """For the owner and admins."""

    @extend_schema(
        operation_id="listTeamAuditEntries",
        parameters=PAGE_PARAMETERS,
        responses={200: AuditEntrySerializer(many=True), **error_responses(NoTeam, RoleTooLow)},
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Who did what to whom in your team, newest first; of the last year."""
        return NewestFirst().answer(request, list_entries(request.user), AuditEntrySerializer)
