"""Creates, renames and deletes teams."""

from uuid import UUID

from django.db import transaction

from accounts.errors import InvalidToken
from accounts.models import User
from accounts.services.users import lock_user
from teams import user_events
from teams.errors import AlreadyInTeam, RoleTooLow
from teams.models import AuditEntry, Member, Role, Team
from teams.rights import manages
from teams.services import pace
from teams.services.locks import lock_membership, lock_team
from teams.services.records import publish, record

Action = AuditEntry.Action


@transaction.atomic
def create(*, user: User, name: str) -> Team:
    """Create a team, which the user owns. Raises AlreadyInTeam, TooManyTeams, or InvalidToken where
    the account was closed meanwhile."""
    # One account creates and joins one team at a time.
    if not lock_user(user).is_active:
        raise InvalidToken
    if Member.objects.filter(account=user).exists():
        raise AlreadyInTeam
    pace.check_teams(user)
    team = Team.objects.create(name=name)
    Member.objects.create(account=user, team=team, role=Role.OWNER)
    record(team.pk, Action.TEAM_CREATED, actor=user, after=name)
    publish(team.pk, others={user.pk: [user_events.created(team)]})
    return team


@transaction.atomic
def rename(*, user: User, name: str) -> None:
    """Rename the user's team. Raises NoTeam, RoleTooLow or TooManyChanges."""
    mine = lock_membership(user)
    if not manages(mine.role):
        raise RoleTooLow
    team, before = mine.team, mine.team.name
    if name == before:
        return
    pace.check_changes(team.pk)
    team.name = name
    team.save(update_fields=["name"])
    record(team.pk, Action.TEAM_RENAMED, actor=user, before=before, after=name)
    publish(team.pk, everybody=[user_events.updated(team)])


@transaction.atomic
def delete(*, user: User) -> None:
    """Delete the team that the user owns, whoever is in it. Raises NoTeam or RoleTooLow."""
    mine = lock_membership(user)
    if mine.role != Role.OWNER:
        raise RoleTooLow
    end(mine.team, actor=user)


@transaction.atomic
def delete_for_operator(*, team_id: UUID) -> bool:
    """Delete a team. Was there one?"""
    team = lock_team(team_id)
    if team is not None:
        end(team, actor=None)
    return team is not None


def end(team: Team, *, actor: User | None) -> None:
    """Delete a locked team with its members and invitations, within the caller's transaction."""
    team_id, name = team.pk, team.name
    account_ids = Member.objects.filter(team=team).values_list("account_id", flat=True)
    told = {account_id: [user_events.deleted(team_id)] for account_id in account_ids}
    record(team_id, Action.TEAM_DELETED, actor=actor, before=name)
    team.delete()
    publish(team_id, others=told)
