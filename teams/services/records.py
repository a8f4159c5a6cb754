"""What every change of a team leaves behind: an entry of its audit log, and events for members."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from accounts.models import User
from events.services import append_to_users
from events.types import NewEvent, ToUser
from teams.models import AuditEntry, Member
from teams.rights import manages


def record(
    team_id: UUID,
    action: AuditEntry.Action,
    *,
    actor: User | None,
    subject: User | None = None,
    address: str = "",
    before: str = "",
    after: str = "",
) -> None:
    """Write an entry of the audit log. `actor` is None where it is no member."""
    AuditEntry.objects.create(
        team_id=team_id,
        action=action,
        actor=actor,
        subject=subject,
        address=address,
        before=before,
        after=after,
    )


def publish(
    team_id: UUID,
    *,
    everybody: Sequence[NewEvent] = (),
    managers: Sequence[NewEvent] = (),
    others: Mapping[UUID, Sequence[NewEvent]] | None = None,
) -> None:
    """Append events to the streams of the members of a locked team, and to those of `others`, by
    user id. The last act of a transaction: it locks the streams."""
    members = Member.objects.filter(team=team_id).values_list("account_id", "role")
    written = {
        account_id: [*everybody, *(managers if manages(role) else ())]
        for account_id, role in members
    }
    for account_id, events in (others or {}).items():
        written[account_id] = [*events, *written.get(account_id, ())]
    append_to_users(ToUser(each, events) for each, events in written.items() if events)
