"""Who is in a team with whom."""

from uuid import UUID

from django.db.models import Q
from django.db.models.expressions import RawSQL

from accounts.models import User
from teams.models import AuditEntry, Member

# The user alone where they are in no team.
_CIRCLE = """
SELECT %s::uuid
UNION
SELECT mate.account_id FROM teams_member mine JOIN teams_member mate USING (team_id)
 WHERE mine.account_id = %s
"""


def circle_of(user: User) -> RawSQL:
    """The ids of the user and of the other members of their team, as a subquery."""
    return RawSQL(_CIRCLE, (user.pk, user.pk))  # noqa: S611 - with parameters


def mates_of(account_id: UUID) -> list[UUID]:
    """The ids of the other members of that user's team."""
    mates = Member.objects.filter(team__members__account=account_id).exclude(account=account_id)
    return list(mates.values_list("account_id", flat=True))


def past_mates_of(user: User, *, after: str) -> list[UUID]:
    """The ids of the others who are, or were, in a team with the user, or in one that has invited
    the user's address: as far back as the audit log goes. Only those whose ids come after that
    text."""
    named = Q(actor=user) | Q(subject=user) | Q(address=user.email)
    entries = AuditEntry.objects.filter(
        team_id__in=AuditEntry.objects.filter(named).values("team_id")
    )
    members = Member.objects.filter(team__in=entries.values("team_id"))
    found = {
        *members.values_list("account_id", flat=True),
        *entries.values_list("actor_id", flat=True),
        *entries.values_list("subject_id", flat=True),
    }
    return sorted(each for each in found - {None, user.pk} if str(each) > after)
