"""Conversations: begun, changed, deleted."""

import math
from datetime import timedelta
from typing import TypedDict, Unpack
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef
from django.utils import timezone

from accounts.models import User
from accounts.services.users import lock_user
from common.errors import NotFound
from common.ids import uuid7
from conversations.errors import (
    SpaceNotFound,
    TooManyConversations,
    TooManyNewConversations,
)
from conversations.models import Attachment, Conversation, Message, Space
from conversations.selectors.beginnings import beginning_of
from conversations.selectors.messages import id_of
from conversations.services.locks import lock_conversation, lock_space
from conversations.types import MAX_CONVERSATIONS, MAX_CONVERSATIONS_PER_DAY
from files.services.uploads import release
from jobs import services as jobs

_DAY = timedelta(days=1)
_USERS = Conversation.TitleSource.USER
_FIRST_MESSAGES = Conversation.TitleSource.FIRST_MESSAGE


class ConversationChanges(TypedDict, total=False):
    """What may change about a conversation. Without a space it is outside of any; without a model
    the user's favourite answers."""

    title: str
    model: str | None
    space_id: UUID | None
    system: str
    active_leaf_id: UUID | str


@transaction.atomic
def create(
    *,
    user: User,
    title: str = "",
    model: str | None = None,
    space_id: UUID | None = None,
    system: str = "",
) -> Conversation:
    """Begin a conversation, in which nothing is said yet. Raises SpaceNotFound,
    TooManyConversations, TooManyNewConversations."""
    # Creations of one account queue up here, so that none can pass the limit beside another.
    lock_user(user)
    _check_room(user)
    conversation = Conversation(account=user, model=model or "", system=system)
    conversation.space = _space(user, space_id)
    if title:
        conversation.title, conversation.title_source = title, _USERS
    conversation.save(force_insert=True)
    return conversation


@transaction.atomic
def update(*, user: User, conversation_id: UUID, **changes: Unpack[ConversationChanges]) -> None:
    """Change what is named. A title of the user's own is never replaced by a model's; an empty one
    gives way to the beginning of the first message.

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
    if "active_leaf_id" in changes:
        conversation.leaf_id = id_of(conversation, "active_leaf_id", changes["active_leaf_id"])
    if changes:
        conversation.save()


@transaction.atomic
def delete(*, user: User, conversation_id: UUID) -> None:
    """Delete a conversation with all its branches. A reply that runs is stopped, and billed for
    what it has produced; files that no other message has are purged. Raises NotFound."""
    conversation = lock_conversation(user, conversation_id)
    running = conversation.messages.filter(status=Message.Status.RUNNING)
    jobs.cancel(job_ids=list(running.values_list("id", flat=True)))
    attached = Attachment.objects.filter(message__conversation=conversation)
    uploads = set(attached.values_list("upload", flat=True))
    conversation.delete()
    elsewhere = Attachment.objects.filter(upload=OuterRef("pk"))
    release(upload_ids=uploads, unless=Exists(elsewhere))


def _check_room(user: User) -> None:
    """Raises TooManyConversations, TooManyNewConversations. Those in which nothing is said count as
    well: their instructions are stored, and cost nothing."""
    own = Conversation.objects.filter(account=user)
    if own.count() >= MAX_CONVERSATIONS:
        raise TooManyConversations
    now = timezone.now()
    day_ago = now - _DAY
    # Nothing is begun after it was last active, and for activity there is an index.
    begun = own.filter(activity__gte=uuid7(day_ago), created_at__gt=day_ago)
    today = begun.aggregate(count=Count("pk"), oldest=Min("created_at"))
    if today["count"] >= MAX_CONVERSATIONS_PER_DAY:
        wait = today["oldest"] + _DAY - now
        raise TooManyNewConversations(retry_after=math.ceil(wait.total_seconds()))


def _space(user: User, space_id: UUID | None) -> Space | None:
    """The space that the body names, which cannot be deleted before the transaction ends."""
    if space_id is None:
        return None
    try:
        return lock_space(user, space_id)
    except NotFound:
        raise SpaceNotFound from None


def _entitle(conversation: Conversation, title: str) -> None:
    """Without a title, it is called after its first message, as when it began."""
    conversation.title = title or beginning_of(conversation)
    conversation.title_source = _USERS if title else _FIRST_MESSAGES
