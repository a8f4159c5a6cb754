"""Deletes and rates messages."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Length, Now

from accounts.models import User
from common.errors import NotFound
from conversations.models import Conversation, Feedback, Message
from conversations.selectors.branches import newest_after, what_follows
from conversations.selectors.conversations import default_title_of, get_listed
from conversations.selectors.messages import get_message
from conversations.services.erasing import erase_messages
from conversations.services.locks import lock_owned
from conversations.services.publishing import publish_row

_LENGTH = Sum(Length("content") + Length("reasoning"))


@transaction.atomic
def delete(*, user: User, conversation_id: UUID, message_id: UUID | str) -> None:
    """Delete a message with all that follow it, on any branch. A running reply among them is
    stopped, and billed for what it has produced; files without another message are purged.

    Where the shown branch loses its end, the newest remaining message of it becomes the end. A
    default title is made from the message that is then the first. Shared snapshots stay.

    Raises NotFound, OwnerOnly.
    """
    conversation = lock_owned(user, conversation_id)
    message = get_message(user, conversation_id, message_id)
    deleted = what_follows(conversation, message.pk)
    removed = _delete(conversation.messages.filter(pk__in=deleted))
    changes: dict[str, Any] = {
        "messages_count": F("messages_count") - removed["count"],
        "characters": F("characters") - removed["characters"],
    }
    if conversation.leaf_id in deleted:
        changes["leaf"] = newest_after(conversation, message.parent_id)
    is_untitled = conversation.title_source == Conversation.TitleSource.FIRST_MESSAGE
    if is_untitled and message.parent_id is None:
        changes["title"] = default_title_of(conversation)
    Conversation.objects.filter(pk=conversation.pk).update(**changes)
    publish_row(get_listed(user, conversation_id))


def _delete(messages: QuerySet[Message]) -> dict[str, int]:
    """Delete these messages of one conversation. Returns their `count` and `characters`."""
    removed: dict[str, int] = messages.aggregate(count=Count("pk"), characters=_LENGTH)
    erase_messages(messages)
    return removed


@transaction.atomic
def rate(
    *, user: User, conversation_id: UUID, message_id: UUID | str, rating: str, comment: str
) -> Feedback:
    """Set the user's feedback on a reply. Raises NotFound, OwnerOnly."""
    reply = _lock_reply(user, conversation_id, message_id)
    feedback, _ = Feedback.objects.update_or_create(
        message=reply,
        create_defaults={"account": user, "rating": rating, "comment": comment},
        defaults={"rating": rating, "comment": comment, "updated_at": Now()},
    )
    feedback.refresh_from_db()
    return feedback


@transaction.atomic
def unrate(*, user: User, conversation_id: UUID, message_id: UUID | str) -> None:
    """Remove the user's feedback on a reply. Raises NotFound where there is none, and
    OwnerOnly."""
    reply = _lock_reply(user, conversation_id, message_id)
    deleted, _ = Feedback.objects.filter(message=reply).delete()
    if not deleted:
        raise NotFound


def _lock_reply(user: User, conversation_id: UUID, message_id: UUID | str) -> Message:
    """A reply, locked against deletion. Raises NotFound, OwnerOnly."""
    lock_owned(user, conversation_id)
    reply = get_message(user, conversation_id, message_id)
    if reply.role != Message.Role.ASSISTANT:
        raise NotFound
    return reply
