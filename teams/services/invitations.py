"""Sends, sends again and revokes invitations.

Nothing here looks for an account of the invited address: answers, mails and times are the same
whether there is one or not.
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services.emails import request_email
from teams import user_events
from teams.errors import (
    AlreadyMember,
    InvitationNotFound,
    RoleTooLow,
    TeamFull,
    TooManyInvitations,
    TooManyPending,
)
from teams.models import AuditEntry, Invitation, Member
from teams.rights import is_above, manages
from teams.services import pace
from teams.services.emails import INVITATION
from teams.services.locks import lock_invitation, lock_membership
from teams.services.records import publish, record
from teams.services.revocations import revoke_invitation
from teams.types import INVITATION_LIFETIME, MAX_MEMBERS, MAX_PENDING

# Seconds after which an address may be mailed again that has got its mails.
_ADDRESS_AGAIN = 3_600


@transaction.atomic
def invite(*, user: User, address: str, role: str) -> Invitation:
    """Invite whoever reads the mail of an address, in lower case. An address that is invited
    already gets another mail, with this role; the links of earlier mails are dead.

    Raises NoTeam, RoleTooLow, AlreadyMember, TeamFull, TooManyPending, TooManyChanges or
    TooManyInvitations.
    """
    mine = lock_membership(user)
    if not is_above(mine.role, role):
        raise RoleTooLow
    _check_members(mine, address)
    pending = Invitation.objects.pending().filter(team=mine.team_id, address=address)
    invitation = pending.first() or Invitation(team=mine.team, address=address, role=role)
    if not is_above(mine.role, invitation.role):
        raise RoleTooLow
    invitation.role = role
    _send(mine, invitation)
    return invitation


@transaction.atomic
def resend(*, user: User, invitation_id: UUID) -> Invitation:
    """Send a pending invitation again, expired or not, with a new token and for a new time.

    Raises NoTeam, RoleTooLow, InvitationNotFound, AlreadyMember, TeamFull, TooManyPending,
    TooManyChanges or TooManyInvitations.
    """
    mine = lock_membership(user)
    invitation = _find(mine, invitation_id)
    _check_members(mine, invitation.address)
    _send(mine, invitation)
    return invitation


@transaction.atomic
def revoke(*, user: User, invitation_id: UUID) -> None:
    """Revoke a pending invitation. Raises NoTeam, RoleTooLow, InvitationNotFound or
    TooManyChanges."""
    mine = lock_membership(user)
    invitation = _find(mine, invitation_id)
    pace.check_changes(mine.team_id)
    revoke_invitation(invitation, actor=user)
    publish(mine.team_id, managers=[user_events.invite_updated(invitation)])


@transaction.atomic
def revoke_for_operator(*, invitation_id: UUID) -> bool:
    """Revoke an invitation. Was it pending?"""
    pending = Invitation.objects.pending().select_related("invited_by").filter(pk=invitation_id)
    invitation = lock_invitation(pending)
    if invitation is None:
        return False
    revoke_invitation(invitation, actor=None)
    publish(invitation.team_id, managers=[user_events.invite_updated(invitation)])
    return True


def _find(mine: Member, invitation_id: UUID) -> Invitation:
    """A pending invitation of the member's locked team, on which the member may act. Raises
    RoleTooLow or InvitationNotFound."""
    if not manages(mine.role):
        raise RoleTooLow
    pending = Invitation.objects.pending().select_related("invited_by").filter(team=mine.team_id)
    invitation = pending.filter(pk=invitation_id).first()
    if invitation is None:
        raise InvitationNotFound
    if not is_above(mine.role, invitation.role):
        raise RoleTooLow
    return invitation


def _check_members(mine: Member, address: str) -> None:
    """Raises AlreadyMember or TeamFull."""
    # Compared here: a search for the address would take another time for one with an account.
    members = Member.objects.filter(team=mine.team_id)
    addresses = list(members.values_list("account__email", flat=True))
    if address in addresses:
        raise AlreadyMember
    if len(addresses) >= MAX_MEMBERS:
        raise TeamFull


def _send(mine: Member, invitation: Invitation) -> None:
    """Request the mail of an invitation of a locked team. The token of an earlier mail is dead; the
    new one is made when the mail is sent."""
    others = Invitation.objects.pending().filter(team=mine.team_id, expires_at__gt=timezone.now())
    if others.exclude(pk=invitation.pk).count() >= MAX_PENDING:
        raise TooManyPending
    pace.check_changes(mine.team_id)
    pace.check_invitations(mine.team_id, mine.account)
    is_accepted = request_email(
        kind=INVITATION.name, address=invitation.address, about=invitation.pk
    )
    if not is_accepted:
        raise TooManyInvitations(retry_after=_ADDRESS_AGAIN)
    invitation.invited_by = mine.account
    invitation.digest, invitation.sent_at = None, None
    invitation.expires_at = timezone.now() + INVITATION_LIFETIME
    invitation.save()
    record(
        mine.team_id,
        AuditEntry.Action.INVITATION_SENT,
        actor=mine.account,
        address=invitation.address,
        after=invitation.role,
    )
    publish(mine.team_id, managers=[user_events.invite_updated(invitation)])
