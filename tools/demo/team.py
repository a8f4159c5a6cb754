"""A team to look at."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import User
from teams.models import AuditEntry, Member, Role
from teams.services import invitations, teams
from teams.services.records import record

NAME = "Lighthouse Studio"
INVITED = "nora.lindqvist@example.com"


@transaction.atomic
def create_team(owner: User, colleagues: Sequence[User]) -> bool:
    """Create a team of the owner's: the first colleague is an admin, the others are members, and
    one more person is invited. False where one of them is in a team already.

    Raises what `teams.services.teams.create` and `teams.services.invitations.invite` do.
    """
    if Member.objects.filter(account__in=[owner, *colleagues]).exists():
        return False
    team = teams.create(user=owner, name=NAME)
    for place, colleague in enumerate(colleagues):
        role = Role.MEMBER if place else Role.ADMIN
        Member.objects.create(account=colleague, team=team, role=role)
        record(
            team.pk,
            AuditEntry.Action.MEMBER_JOINED,
            actor=colleague,
            subject=colleague,
            address=colleague.email,
            after=role,
        )
    invitations.invite(user=owner, address=INVITED, role=Role.MEMBER)
    return True
