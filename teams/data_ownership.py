"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned, Rewrite
from teams.models import AuditEntry, Invitation, Member
from teams.services.erasing import erase_from_teams

OWNED = (
    # The membership ends when the account is closed (`teams.services.members.leave_departed`).
    Owned(
        Member,
        owners=("account",),
        exported="account_id team_id role joined_at",
        on_deletion=Delete(),
    ),
    Owned(
        Invitation,
        owners=("invited_by",),
        exported="id team_id address role status created_at expires_at sent_at ended_at",
        left_out="invited_by_id digest",
        on_deletion=Delete(),
    ),
    Owned(
        AuditEntry,
        owners=("actor", "subject"),
        exported="id team_id action address before after created_at",
        # They tell of other people.
        left_out="actor_id subject_id",
        on_deletion=Rewrite(erase_from_teams),
    ),
)
