"""Creates, changes, shares and deletes spaces."""

from typing import Any, TypedDict, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from accounts.services.users import lock_user
from conversations import user_events
from conversations.errors import NothingToShareWith, TooManySpaces
from conversations.models import Space
from conversations.services.locks import lock_space
from conversations.services.publishing import for_all, publish_space
from conversations.types import MAX_SPACES
from events.services import append_to_users
from teams.errors import NoTeam
from teams.models import Member
from teams.services.locks import lock_membership


class SpaceChanges(TypedDict, total=False):
    """The fields of a space that may change."""

    name: str
    instructions: str
    shared: str | None


@transaction.atomic
def create(*, user: User, name: str, instructions: str = "") -> Space:
    """Create a space. Raises TooManySpaces."""
    # Creations of one account take turns here, so that two cannot both pass the limit.
    lock_user(user)
    if Space.objects.filter(account=user).count() >= MAX_SPACES:
        raise TooManySpaces
    return Space.objects.create(account=user, name=name, instructions=instructions)


@transaction.atomic
def update(*, user: User, space_id: UUID, **changes: Unpack[SpaceChanges]) -> None:
    """Change the fields in `changes`. The user's team is told where the space is, or was, shared.
    Raises NotFound, OwnerOnly, and NothingToShareWith where the user is in no team."""
    has_team = changes.get("shared") is None or _lock_team(user)
    space = lock_space(user, space_id)
    if not has_team:
        raise NothingToShareWith
    was_shared = space.shared is not None
    for field, value in changes.items():
        setattr(space, field, value)
    if changes:
        space.updated_at = Now()
        space.save(update_fields=[*changes, "updated_at"])
        space.refresh_from_db(fields=["updated_at"])
        publish_space(space, was_shared=was_shared)


@transaction.atomic
def delete(*, user: User, space_id: UUID) -> None:
    """Delete a space; its conversations stay, outside of any. One event names all of them.
    Raises NotFound, OwnerOnly."""
    space = lock_space(user, space_id)
    Space.objects.filter(pk=space_id).delete()
    append_to_users(for_all(user.pk, space, user_events.space_deleted(space_id)))


def take_back(*, instance: Member, **_: Any) -> None:
    """The receiver of the deletion of a membership, whoever deletes it: stop sharing the spaces of
    who has left the team. A team that they join later does not see them."""
    shared = Space.objects.filter(account=instance.account_id, shared__isnull=False)
    shared.update(shared=None, updated_at=Now())


def _lock_team(user: User) -> bool:
    """Lock the user's team, so that no membership ends before the space is shared. Is there one?"""
    try:
        lock_membership(user)
    except NoTeam:
        return False
    return True
