"""Bounds how often a team is changed, invitations are sent and teams are created, by the entries of
the audit log. Called under the lock of the team or of the user."""

from datetime import timedelta
from math import ceil
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from common.errors import DomainError
from common.ids import uuid7
from teams.errors import TooManyChanges, TooManyInvitations, TooManyTeams
from teams.models import AuditEntry
from teams.types import (
    DAY,
    MAX_CHANGES_PER_DAY,
    MAX_INVITATIONS_PER_DAY,
    MAX_TEAMS_PER_DAY,
)

Action = AuditEntry.Action


def check_changes(team_id: UUID) -> None:
    """Raises TooManyChanges."""
    _check(_recent().filter(team_id=team_id), MAX_CHANGES_PER_DAY, TooManyChanges)


def check_invitations(team_id: UUID, inviter: User) -> None:
    """Raises TooManyInvitations."""
    sent = _recent().filter(action=Action.INVITATION_SENT)
    for of_one in (sent.filter(team_id=team_id), sent.filter(actor=inviter)):
        _check(of_one, MAX_INVITATIONS_PER_DAY, TooManyInvitations)


def check_teams(creator: User) -> None:
    """Raises TooManyTeams."""
    created = _recent().filter(actor=creator, action=Action.TEAM_CREATED)
    _check(created, MAX_TEAMS_PER_DAY, TooManyTeams)


def _recent() -> QuerySet[AuditEntry]:
    """Entries of the last 24 hours, by the time in their ids."""
    return AuditEntry.objects.filter(pk__gt=uuid7(timezone.now() - DAY))


def _check(entries: QuerySet[AuditEntry], most: int, error: type[DomainError]) -> None:
    """Raises the error where there are so many entries; it says when the first of them is a day
    old."""
    newest = entries.order_by("-pk").values_list("created_at", flat=True)
    for first in newest[most - 1 : most]:
        left: timedelta = first + DAY - timezone.now()
        raise error(retry_after=max(1, ceil(left.total_seconds())))
