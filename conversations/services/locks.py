"""Locks: a change of a conversation locks its row, so that changes come one after the other.

A change that also moves the conversation locks the space's row first.
"""

from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from conversations.models import Conversation, Space


def lock_conversation(user: User, conversation_id: UUID) -> Conversation:
    """The user's conversation, locked until the transaction ends. Raises NotFound."""
    owned = Conversation.objects.select_for_update(of=("self",)).select_related("account")
    conversation = owned.filter(account=user, pk=conversation_id).first()
    if conversation is None:
        raise NotFound
    return conversation


def lock_conversations(user: User, conversation_ids: Collection[UUID]) -> list[Conversation]:
    """The user's conversations among these, locked until the transaction ends; in one order, so
    that two transactions do not wait for each other."""
    owned = Conversation.objects.select_for_update(of=("self",)).only("pk")
    return list(owned.filter(account=user, pk__in=conversation_ids).order_by("pk"))


def lock_space(user: User, space_id: UUID) -> Space:
    """The user's space, locked until the transaction ends. Raises NotFound."""
    space = Space.objects.select_for_update().filter(account=user, pk=space_id).first()
    if space is None:
        raise NotFound
    return space
