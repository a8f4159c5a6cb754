"""Locks: a change of a team locks its row, so that changes come one after the other.

A user who joins or creates a team is locked before it.
"""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from teams.errors import NoTeam
from teams.models import Invitation, Member, Team


def lock_team(team_id: UUID) -> Team | None:
    """The team, locked until the transaction ends; None where it is deleted."""
    return Team.objects.select_for_update().filter(pk=team_id).first()


def lock_invitation(invitations: QuerySet[Invitation]) -> Invitation | None:
    """The first of these invitations, its team locked until the transaction ends; None where there
    is none, or none any more."""
    found = invitations.first()
    if found is None or lock_team(found.team_id) is None:
        return None
    # Read again, because it may have ended meanwhile.
    return invitations.first()


def lock_membership(user: User) -> Member:
    """The user's membership with team and account, the team locked until the transaction ends.
    Raises NoTeam."""
    team_id = Member.objects.filter(account=user).values_list("team_id", flat=True).first()
    if team_id is None or lock_team(team_id) is None:
        raise NoTeam
    # Read again, because the user may have been removed meanwhile.
    members = Member.objects.select_related("team", "account")
    member = members.filter(account=user, team=team_id).first()
    if member is None:
        raise NoTeam
    return member
