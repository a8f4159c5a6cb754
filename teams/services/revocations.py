"""Revokes invitations: one by one, and those that their inviter may not send any more."""

from django.utils import timezone

from accounts.models import User
from teams.models import AuditEntry, Invitation, Member
from teams.rights import roles_below
from teams.services.records import record


def end_invitation(invitation: Invitation, status: Invitation.Status) -> None:
    """End a pending invitation of a locked team: its token works no more."""
    invitation.status, invitation.digest, invitation.ended_at = status, None, timezone.now()
    invitation.save(update_fields=["status", "digest", "ended_at"])


def revoke_invitation(invitation: Invitation, *, actor: User | None) -> None:
    """Revoke a pending invitation of a locked team."""
    end_invitation(invitation, Invitation.Status.REVOKED)
    record(
        invitation.team_id,
        AuditEntry.Action.INVITATION_REVOKED,
        actor=actor,
        address=invitation.address,
        before=invitation.role,
    )


def revoke_beyond_rights(
    member: Member, *, actor: User | None, has_left: bool = False
) -> list[Invitation]:
    """Revoke the pending invitations that this member of a locked team has sent and could not send
    now; all of them for a member who leaves. Returns them."""
    sent = Invitation.objects.pending().filter(team=member.team_id, invited_by=member.account_id)
    if not has_left:
        sent = sent.exclude(role__in=roles_below(member.role))
    revoked = list(sent.select_related("invited_by").order_by("pk"))
    for invitation in revoked:
        revoke_invitation(invitation, actor=actor)
    return revoked
