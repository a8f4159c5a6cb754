"""Accepts and declines invitations, by the token of their mail."""

from django.db import transaction

from accounts.errors import InvalidToken
from accounts.models import User
from accounts.services.users import lock_user
from accounts.services.verification import confirm_holder
from teams import user_events
from teams.errors import (
    AddressNotVerified,
    AlreadyInTeam,
    InvitationForOther,
    InvitationNotFound,
    TeamFull,
)
from teams.models import AuditEntry, Invitation, Member
from teams.selectors.invitations import find_usable, get_received
from teams.services.locks import lock_team
from teams.services.records import publish, record
from teams.services.revocations import end_invitation
from teams.types import MAX_MEMBERS

Status = Invitation.Status


@transaction.atomic
def accept(*, user: User, token: str) -> None:
    """Join the team of the invitation, which is used up.

    Raises InvitationNotFound; InvitationForOther or AddressNotVerified, where the user does not
    have the invited address; AlreadyInTeam; TeamFull; or InvalidToken where the account was closed
    meanwhile.
    """
    found = get_received(token)
    # One account creates and joins one team at a time.
    addressee = lock_user(user)
    if not addressee.is_active:
        raise InvalidToken
    if addressee.email != found.address:
        raise InvitationForOther
    if not addressee.email_verified:
        raise AddressNotVerified
    invitation = _lock_invitation(found, token)
    if Member.objects.filter(account=addressee).exists():
        raise AlreadyInTeam
    if Member.objects.filter(team=invitation.team_id).count() >= MAX_MEMBERS:
        raise TeamFull
    member = Member.objects.create(account=addressee, team=invitation.team, role=invitation.role)
    end_invitation(invitation, Status.ACCEPTED)
    confirm_holder(addressee)
    record(
        invitation.team_id,
        AuditEntry.Action.MEMBER_JOINED,
        actor=addressee,
        subject=addressee,
        address=invitation.address,
        after=member.role,
    )
    publish(
        invitation.team_id,
        everybody=[user_events.member_joined(member)],
        managers=[user_events.invite_updated(invitation)],
        others={addressee.pk: [user_events.joined(invitation.team)]},
    )


@transaction.atomic
def decline(*, token: str) -> None:
    """Decline the invitation, with or without an account: who has the token reads the mail of the
    address. Raises InvitationNotFound."""
    invitation = _lock_invitation(get_received(token), token)
    end_invitation(invitation, Status.DECLINED)
    record(
        invitation.team_id,
        AuditEntry.Action.INVITATION_DECLINED,
        actor=None,
        address=invitation.address,
        before=invitation.role,
    )
    publish(invitation.team_id, managers=[user_events.invite_updated(invitation)])


def _lock_invitation(found: Invitation, token: str) -> Invitation:
    """The invitation, its team locked. Raises InvitationNotFound where it has ended meanwhile."""
    invitation = find_usable(token) if lock_team(found.team_id) else None
    if invitation is None:
        raise InvitationNotFound
    return invitation
