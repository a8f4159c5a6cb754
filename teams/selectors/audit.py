"""The audit log of a team."""

from django.db.models import QuerySet

from accounts.models import User
from teams.models import AuditEntry
from teams.selectors.teams import get_managed


def list_entries(user: User) -> QuerySet[AuditEntry]:
    """What was done in the user's team, with who did it. Raises NoTeam or RoleTooLow."""
    team_id = get_managed(user).team_id
    return AuditEntry.objects.filter(team_id=team_id).select_related("actor", "subject")
