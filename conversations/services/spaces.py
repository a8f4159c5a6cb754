"""Creates, changes and deletes spaces."""

from typing import TypedDict, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from accounts.services.users import lock_user
from conversations import user_events
from conversations.errors import TooManySpaces
from conversations.models import Space
from conversations.services.locks import lock_space
from conversations.types import MAX_SPACES
from events.services import append_to_user


class SpaceChanges(TypedDict, total=False):
    """The fields of a space that may change."""

    name: str
    instructions: str


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
    """Change the fields in `changes`. Raises NotFound."""
    space = lock_space(user, space_id)
    for field, value in changes.items():
        setattr(space, field, value)
    if changes:
        space.updated_at = Now()
        space.save(update_fields=[*changes, "updated_at"])


@transaction.atomic
def delete(*, user: User, space_id: UUID) -> None:
    """Delete a space; its conversations stay, outside of any. One event names all of them.
    Raises NotFound."""
    lock_space(user, space_id).delete()
    append_to_user(user_id=user.pk, events=[user_events.space_deleted(space_id)])
