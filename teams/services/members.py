"""Changes who is in a team, and with which role."""

from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from teams import user_events
from teams.errors import (
    MemberNotFound,
    NoTeam,
    OwnRole,
    RoleTooLow,
    TransferFirst,
    TransferToOneself,
)
from teams.models import AuditEntry, Member, Role
from teams.rights import is_above
from teams.services import pace, teams
from teams.services.locks import lock_membership, lock_team
from teams.services.records import publish, record
from teams.services.revocations import revoke_beyond_rights

Action = AuditEntry.Action


@transaction.atomic
def leave(*, user: User) -> None:
    """Leave the team. The last member takes the team along: it is deleted.

    Raises NoTeam, or TransferFirst for an owner with others in the team.
    """
    mine = lock_membership(user)
    if mine.role == Role.OWNER:
        if Member.objects.filter(team=mine.team_id).exclude(pk=mine.pk).exists():
            raise TransferFirst
        teams.end(mine.team, actor=user)
        return
    _end_membership(mine, Action.MEMBER_LEFT, actor=user)


@transaction.atomic
def remove(*, user: User, member_id: UUID) -> None:
    """Remove somebody of a lower role. Raises NoTeam, MemberNotFound, OwnRole, RoleTooLow or
    TooManyChanges."""
    mine = lock_membership(user)
    other = _find_below(mine, member_id)
    pace.check_changes(mine.team_id)
    _end_membership(other, Action.MEMBER_REMOVED, actor=user)


@transaction.atomic
def change_role(*, user: User, member_id: UUID, role: str) -> Member:
    """Make a member an admin, or an admin a member, and return them. Raises NoTeam, MemberNotFound,
    OwnRole, RoleTooLow or TooManyChanges."""
    mine = lock_membership(user)
    other = _find_below(mine, member_id)
    if not is_above(mine.role, role):
        raise RoleTooLow
    if other.role == role:
        return other
    pace.check_changes(mine.team_id)
    before = _set_role(other, role)
    record(
        mine.team_id,
        Action.ROLE_CHANGED,
        actor=user,
        subject=other.account,
        before=before,
        after=role,
    )
    ended = revoke_beyond_rights(other, actor=user)
    publish(
        mine.team_id,
        everybody=[user_events.member_updated(other)],
        managers=[user_events.invite_updated(each) for each in ended],
    )
    return other


@transaction.atomic
def transfer_ownership(*, user: User, member_id: UUID) -> None:
    """Make another member the owner; the owner becomes an admin. Raises NoTeam, RoleTooLow,
    TransferToOneself, MemberNotFound or TooManyChanges."""
    mine = lock_membership(user)
    if mine.role != Role.OWNER:
        raise RoleTooLow
    if member_id == mine.account_id:
        raise TransferToOneself
    successor = _find(mine.team_id, member_id)
    pace.check_changes(mine.team_id)
    _pass_on(mine, successor, actor=user)


@transaction.atomic
def make_owner_for_operator(*, member: Member) -> bool:
    """Make a member the owner in place of whoever is; an owner may have lost their account. False
    where the member owns the team already. Raises MemberNotFound."""
    if lock_team(member.team_id) is None:
        raise MemberNotFound
    successor = _find(member.team_id, member.account_id)
    if successor.role == Role.OWNER:
        return False
    owner = Member.objects.select_related("account").get(team=member.team_id, role=Role.OWNER)
    _pass_on(owner, successor, actor=None)
    return True


def leave_departed(*, user: User, **_: Any) -> None:
    """The receiver of `user_departed`: end the membership of a user who has lost the account.

    A team that they own goes to the admin who joined first, where there is none to the member who
    joined first; active accounts come before suspended ones.
    """
    try:
        mine = lock_membership(user)
    except NoTeam:  # or removed meanwhile; a locked user joins none
        return
    if mine.role == Role.OWNER:
        successor = _successor(mine)
        if successor is None:
            teams.end(mine.team, actor=user)
            return
        _pass_on(mine, successor, actor=user)
    _end_membership(mine, Action.MEMBER_LEFT, actor=user)


def _find(team_id: UUID, member_id: UUID) -> Member:
    """A member of the team, with the account. Raises MemberNotFound."""
    members = Member.objects.select_related("account").filter(team=team_id)
    member = members.filter(account=member_id).first()
    if member is None:
        raise MemberNotFound
    return member


def _find_below(mine: Member, member_id: UUID) -> Member:
    """A member on whom the user may act. Raises OwnRole, MemberNotFound or RoleTooLow."""
    if member_id == mine.account_id:
        raise OwnRole
    other = _find(mine.team_id, member_id)
    if not is_above(mine.role, other.role):
        raise RoleTooLow
    return other


def _successor(owner: Member) -> Member | None:
    """Who gets the team of an owner who has lost the account."""
    others = Member.objects.select_related("account").filter(team=owner.team_id)

    def place(member: Member) -> tuple[bool, bool, object, UUID]:
        is_admin = member.role == Role.ADMIN
        return (not member.account.is_active, not is_admin, member.joined_at, member.account_id)

    return min(others.exclude(pk=owner.pk), key=place, default=None)


def _set_role(member: Member, role: str) -> str:
    """Save the new role. Returns the old one."""
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    return before


def _pass_on(owner: Member, successor: Member, *, actor: User | None) -> None:
    """Make the successor the owner, and the owner an admin, of their locked team."""
    # In this order: a team has one owner at every moment.
    _set_role(owner, Role.ADMIN)
    before = _set_role(successor, Role.OWNER)
    record(
        owner.team_id,
        Action.OWNERSHIP_TRANSFERRED,
        actor=actor,
        subject=successor.account,
        before=before,
        after=Role.OWNER,
    )
    ended = revoke_beyond_rights(owner, actor=actor)
    publish(
        owner.team_id,
        everybody=[user_events.member_updated(each) for each in (owner, successor)],
        managers=[user_events.invite_updated(each) for each in ended],
    )


def _end_membership(member: Member, action: AuditEntry.Action, *, actor: User) -> None:
    """Take a member who is not the owner out of the locked team, and revoke their invitations."""
    team_id, account = member.team_id, member.account
    ended = revoke_beyond_rights(member, actor=actor, has_left=True)
    record(team_id, action, actor=actor, subject=account, before=member.role)
    Member.objects.filter(pk=account.pk).delete()
    publish(
        team_id,
        everybody=[user_events.member_left(member)],
        managers=[user_events.invite_updated(each) for each in ended],
        others={account.pk: [user_events.left(team_id)]},
    )
