"""Creates, changes and deletes conversations."""

import math
from collections.abc import Collection, Iterable
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
from conversations.selectors.access import access_to, check_owns
from conversations.selectors.conversations import default_title_of, get_listed
from conversations.selectors.messages import id_of
from conversations.services.erasing import erase_conversations
from conversations.services.locks import lock_conversations, lock_owned, lock_space, lock_writable
from conversations.services.publishing import publish_move, publish_row, sharers_of
from conversations.types import MAX_CONVERSATIONS, MAX_CONVERSATIONS_PER_DAY
from events.services import append_to_users
from events.types import NewEvent, ToUser

_DAY = timedelta(days=1)
_USERS = Conversation.TitleSource.USER
# What a member who writes in a shared space may change.
_WRITERS = {"title", "active_leaf_id"}
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
    """Begin a conversation without messages. Raises SpaceNotFound, OwnerOnly for a space of
    somebody else's, TooManyConversations, TooManyNewConversations."""
    check_room(user)
    conversation = Conversation(account=user, model=model or "", system=system)
    conversation.space = _space(user, space_id)
    if title:
        conversation.title, conversation.title_source = title, _USERS
    conversation.save(force_insert=True)
    publish_row(get_listed(user, conversation.pk), is_new=True)
    return conversation


@transaction.atomic
def update(*, user: User, conversation_id: UUID, **changes: Unpack[ConversationChanges]) -> None:
    """Change the fields in `changes`. A model never replaces the user's title; an empty one
    restores the default title.

    Raises NotFound, SpaceNotFound, MessageNotFound, and ReadOnly or OwnerOnly where the
    conversation is somebody else's.
    """
    check = lock_writable if changes.keys() <= _WRITERS else lock_owned
    space = _space(user, changes.get("space_id"))
    conversation = check(user, conversation_id)
    before = conversation.space
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
        publish_move(get_listed(user, conversation_id), before=before)


def delete(*, user: User, conversation_id: UUID) -> None:
    """Delete a conversation with all its branches. A running reply is stopped, and billed for what
    it has produced; files without another message are purged. Raises NotFound, OwnerOnly."""
    if not delete_all(user=user, conversation_ids=[conversation_id]):
        check_owns(access_to(user, conversation_id))
        raise NotFound


@transaction.atomic
def delete_all(*, user: User, conversation_ids: Collection[UUID]) -> list[UUID]:
    """Delete the user's conversations among these, as `delete` does. Returns their ids."""
    conversations = lock_conversations(user, conversation_ids)
    found = [conversation.pk for conversation in conversations]
    erase_conversations(found)
    if found:
        _tell_deleted(user, conversations)
    return found


def _tell_deleted(user: User, conversations: Collection[Conversation]) -> None:
    """Tell the user, who owns them, and those with whom their spaces are shared, who are the same
    for all. The last step: all other changes of these users wait for the locks."""
    shared = [each for each in conversations if each.space and each.space.shared]
    sharers = sharers_of(shared[0].space) if shared else []
    told = [ToUser(user.pk, _deletions(conversations))]
    told += [ToUser(user_id, _deletions(shared)) for user_id in sharers]
    append_to_users(told)


def _deletions(conversations: Iterable[Conversation]) -> list[NewEvent]:
    return [user_events.deleted(conversation.pk) for conversation in conversations]


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
