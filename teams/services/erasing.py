"""Removes a deleted account from what its teams keep, and from what their members were told."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from accounts.types import DELETED_ADDRESS
from events.services import rewrite_for_user
from teams.models import AuditEntry, Invitation
from teams.selectors.members import past_mates_of

_PERSONAL = ("team.member.joined", "team.member.updated", "team.invite.updated")


def erase_from_teams(user: User, after: str) -> Iterator[str]:
    """Remove the account from the events of others, delete the invitations of its address, and
    blank the address, and the names that the user gave to teams, in the audit log. Its entries
    stay, for the other members. The marks are the ids of the users whose events are done."""

    def blank(told: list[dict[str, Any]]) -> None:
        for data in told:
            _blank_person(data, user)

    # First: afterwards the audit log does not say any more who has invited the address.
    for mate_id in past_mates_of(user, after=after):
        rewrite_for_user(user_id=mate_id, types=_PERSONAL, rewrite=blank)
        yield str(mate_id)
    _erase_rows(user)


def _blank_person(data: dict[str, Any], user: User) -> None:
    """The data of an event that shows a member, or an invitation with who has sent it."""
    member, invite = data.get("member"), data.get("invite")
    if member is not None and member["id"] == str(user.pk):
        member.update(name="", email=DELETED_ADDRESS, avatar_url=None)
    if invite is not None and invite["email"] == user.email:
        invite["email"] = DELETED_ADDRESS
    if invite is not None and invite["invited_by"]["id"] == str(user.pk):
        invite["invited_by"]["name"] = ""


@transaction.atomic
def _erase_rows(user: User) -> None:
    Invitation.objects.filter(address=user.email).delete()
    AuditEntry.objects.filter(address=user.email).update(address="")
    named = Q(action__in=(AuditEntry.Action.TEAM_CREATED, AuditEntry.Action.TEAM_RENAMED))
    AuditEntry.objects.filter(named, actor=user).update(before="", after="")
