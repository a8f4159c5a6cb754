"""Who is in a team with whom."""

from uuid import UUID

from django.db.models.expressions import RawSQL

from accounts.models import User
from teams.models import Member

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
