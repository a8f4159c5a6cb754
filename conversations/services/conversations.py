"""Creates, changes and deletes conversations."""

import math
from collections.abc import Collection
from datetime import timedelta
from typing import TypedDict, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Min
from django.utils import timezone

from accounts.models import User
from accounts.services.users import lock_user
from common.errors import NotFound
from common.ids import uuid7
from conversations import user_events
from conversations.errors import (
    SpaceNotFound,
    TooManyConversations,
    TooManyNewConversations,
)
from conversations.models import Conversation, Space
from conversations.selectors.conversations import default_title_of, get_listed
from conversations.selectors.messages import id_of
from conversations.services.erasing import erase_conversations
from conversations.services.locks import lock_conversation, lock_conversations, lock_space
from conversations.types import MAX_CONVERSATIONS, MAX_CONVERSATIONS_PER_DAY
from events.services import append_to_user
from events.types import NewEvent

_DAY = timedelta(days=1)
_USERS = Conversation.TitleSource.USER
_FIRST_MESSAGES = Conversation.TitleSource.FIRST_MESSAGE


class ConversationChanges(TypedDict, total=False):
    """The fields of a conversation that may change. Without a space it is outside of any; without a
    model the user's favourite answers."""

    title: str
    model: str | None
    space_id: UUID | None
    system: str
    active_leaf_id: UUID | str
    pinned: bool


@transaction.atomic
def create(
    *,
    user: User,
    title: str = "",
    model: str | None = None,
    space_id: UUID | None = None,
    system: str = "",
) -> Conversation:
    """Begin a conversation without messages. Raises SpaceNotFound,
    TooManyConversations, TooManyNewConversations."""
    check_room(user)
    conversation = Conversation(account=user, model=model or "", system=system)
    conversation.space = _space(user, space_id)
    if title:
        conversation.title, conversation.title_source = title, _USERS
    conversation.save(force_insert=True)
    _tell(user, user_events.created(get_listed(user, conversation.pk)))
    return conversation


@transaction.atomic
def update(*, user: User, conversation_id: UUID, **changes: Unpack[ConversationChanges]) -> None:
    """Change the fields in `changes`. A model never replaces the user's title; an empty one
    restores the default title.

    Raises NotFound, SpaceNotFound, MessageNotFound.
    """
    space = _space(user, changes.get("space_id"))
    conversation = lock_conversation(user, conversation_id)
    if "title" in changes:
        _entitle(conversation, changes["title"])
    if "model" in changes:
        conversation.model = changes["model"] or ""
    if "space_id" in changes:
        conversation.space = space
    if "system" in changes:
        conversation.system = changes["system"]
    if "pinned" in changes:
        conversation.pinned = changes["pinned"]
    if "active_leaf_id" in changes:
        conversation.leaf_id = id_of(conversation, "active_leaf_id", changes["active_leaf_id"])
    if changes:
        conversation.save()
        _tell(user, user_events.updated(get_listed(user, conversation_id)))


def delete(*, user: User, conversation_id: UUID) -> None:
    """Delete a conversation with all its branches. A running reply is stopped, and billed for what
    it has produced; files without another message are purged. Raises NotFound."""
    if not delete_all(user=user, conversation_ids=[conversation_id]):
        raise NotFound


@transaction.atomic
def delete_all(*, user: User, conversation_ids: Collection[UUID]) -> list[UUID]:
    """Delete the user's conversations among these, as `delete` does. Returns their ids."""
    conversations = lock_conversations(user, conversation_ids)
    found = [conversation.pk for conversation in conversations]
    erase_conversations(found)
    if found:
        _tell(user, *map(user_events.deleted, found))
    return found


def _tell(user: User, *events: NewEvent) -> None:
    """The last step: all other changes of the user's wait for this lock."""
    append_to_user(user_id=user.pk, events=events)


def check_room(user: User) -> None:
    """Raises TooManyConversations, TooManyNewConversations. Those without messages count as
    well: their instructions are stored, and cost nothing. Creations of one account queue up here,
    so that none can pass the limit beside another."""
    lock_user(user)
    owned = Conversation.objects.filter(account=user)
    if owned.count() >= MAX_CONVERSATIONS:
        raise TooManyConversations
    now = timezone.now()
    day_ago = now - _DAY
    # No conversation is younger than its last activity, and activity has an index, for pinned ones
    # and for the others.
    active = owned.filter(pinned__in=[True, False], activity__gte=uuid7(day_ago))
    created = active.filter(created_at__gt=day_ago)
    today = created.aggregate(count=Count("pk"), oldest=Min("created_at"))
    if today["count"] >= MAX_CONVERSATIONS_PER_DAY:
        wait = today["oldest"] + _DAY - now
        raise TooManyNewConversations(retry_after=math.ceil(wait.total_seconds()))


def _space(user: User, space_id: UUID | None) -> Space | None:
    """The space in the body, which cannot be deleted before the transaction ends."""
    if space_id is None:
        return None
    try:
        return lock_space(user, space_id)
    except NotFound:
        raise SpaceNotFound from None


def _entitle(conversation: Conversation, title: str) -> None:
    """Set the default title where the user has given none."""
    conversation.title = title or default_title_of(conversation)
    conversation.title_source = _USERS if title else _FIRST_MESSAGES
