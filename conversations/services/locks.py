"""Locks: a change of a conversation locks its row, so that changes come one after the other.

A change that also moves the conversation locks the space's row first. What the user may do is read
again when the row is locked: the access may have ended while that was waited for.
"""

from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from conversations.models import Conversation, Space
from conversations.selectors.access import (
    OWNER,
    access_to,
    check_owns,
    check_writes,
    spaces_open_to,
)


def lock_owned(user: User, conversation_id: UUID) -> Conversation:
    """The user's own conversation with its space, locked until the transaction ends. Raises
    NotFound, OwnerOnly."""
    conversation = _lock(conversation_id, account=user)
    if conversation is None:
        check_owns(access_to(user, conversation_id))
        raise NotFound
    return conversation


def lock_writable(user: User, conversation_id: UUID) -> Conversation:
    """The same for a conversation in which the user may write. Raises NotFound, ReadOnly."""
    if conversation := _lock(conversation_id, account=user):
        return conversation
    check_writes(access_to(user, conversation_id))
    if (conversation := _lock(conversation_id)) is None:
        raise NotFound
    check_writes(access_to(user, conversation_id))
    return conversation


def lock_conversations(user: User, conversation_ids: Collection[UUID]) -> list[Conversation]:
    """The user's own conversations among these with their spaces, locked until the transaction
    ends; in one order, so that two transactions do not wait for each other."""
    owned = Conversation.objects.select_for_update(of=("self",)).select_related("space")
    owned = owned.only("account", "space", "space__account", "space__shared")
    return list(owned.filter(account=user, pk__in=conversation_ids).order_by("pk"))


def lock_space(user: User, space_id: UUID) -> Space:
    """The user's own space with its owner, locked until the transaction ends. Raises NotFound,
    OwnerOnly."""
    found = spaces_open_to(user).only("pk").filter(pk=space_id).first()
    if found is None:
        raise NotFound
    check_owns(found.access)
    spaces = Space.objects.select_for_update(of=("self",)).select_related("account")
    space = spaces.filter(pk=space_id).first()
    if space is None:
        raise NotFound
    space.access = OWNER
    return space


def _lock(conversation_id: UUID, **of: User) -> Conversation | None:
    locked = Conversation.objects.select_for_update(of=("self",))
    return locked.select_related("account", "space").filter(pk=conversation_id, **of).first()
