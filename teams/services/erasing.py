"""Removes a deleted account from what its teams keep."""

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from teams.models import AuditEntry, Invitation


@transaction.atomic
def erase_from_teams(user: User) -> None:
    """Delete the invitations of the account's address, and blank the address, and the names that
    the user gave to teams, in the audit log. Its entries stay, for the other members."""
    Invitation.objects.filter(address=user.email).delete()
    AuditEntry.objects.filter(address=user.email).update(address="")
    named = Q(action__in=(AuditEntry.Action.TEAM_CREATED, AuditEntry.Action.TEAM_RENAMED))
    AuditEntry.objects.filter(named, actor=user).update(before="", after="")
