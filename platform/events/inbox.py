"""The inbox of a stream: messages of users to the work that writes the stream.

A message is stored in the transaction that accepts it, numbered, and waits until a transaction that
has used it marks it as read. A process that dies before it has marked a message leaves the message
to the next.

The inbox belongs to the app that writes the stream, which checks who may send. Its lock comes
before the head of the stream.
"""

from uuid import UUID

from django.db.models import F
from django.db.models.functions import Greatest

from accounts.models import User
from common.errors import NotFound
from events import models
from events.errors import InboxClosed, InboxFull
from events.types import InboxMessage, InboxState

# The messages of an inbox that may wait to be read, and the characters of a message.
MAX_UNREAD = 10
MAX_BODY = 20_000


def open_inbox(*, stream_id: UUID) -> None:
    """Let a stream take messages, for the first time or again."""
    models.Inbox.objects.update_or_create(pk=stream_id, defaults={"is_open": True})


def post(*, stream_id: UUID, sender: User, body: str) -> InboxMessage:
    """Store a message. `body` has 1 to MAX_BODY characters.

    Raises NotFound where the stream has no inbox, InboxClosed, InboxFull.
    """
    if not 0 < len(body) <= MAX_BODY:
        raise ValueError("A message is not empty, and not longer than MAX_BODY.")
    inbox = _lock(stream_id)
    if not inbox.is_open:
        raise InboxClosed
    if inbox.last_number - inbox.read_number >= MAX_UNREAD:
        raise InboxFull
    number = inbox.last_number + 1
    models.Inbox.objects.filter(pk=stream_id).update(last_number=number)
    return _as_type(
        models.InboxMessage.objects.create(inbox=inbox, number=number, sender=sender, body=body)
    )


def read_all(stream_id: UUID) -> InboxState:
    """The messages of an inbox, and up to which number they are read, as the transaction sees
    them."""
    inbox = models.Inbox.objects.get(pk=stream_id)
    messages = [_as_type(message) for message in inbox.messages.order_by("number")]
    return InboxState(messages, inbox.read_number)


def newest_number(stream_id: UUID) -> int:
    """The number of the newest message; 0 where there is none."""
    return models.Inbox.objects.values_list("last_number", flat=True).get(pk=stream_id)


def mark_read(*, stream_id: UUID, up_to: int) -> None:
    """Mark messages as read, in the transaction that uses them."""
    inbox = models.Inbox.objects.filter(pk=stream_id)
    inbox.update(read_number=Greatest(F("read_number"), up_to))


def close_inbox(*, stream_id: UUID) -> list[InboxMessage]:
    """Take no more messages. Returns those that were never read, and marks them as read: the caller
    hands them back."""
    inbox = _lock(stream_id)
    unread = inbox.messages.filter(number__gt=inbox.read_number).order_by("number")
    messages = [_as_type(message) for message in unread]
    models.Inbox.objects.filter(pk=stream_id).update(is_open=False, read_number=inbox.last_number)
    return messages


def _lock(stream_id: UUID) -> models.Inbox:
    inbox = models.Inbox.objects.select_for_update(no_key=True).filter(pk=stream_id).first()
    if inbox is None:
        raise NotFound
    return inbox


def _as_type(message: models.InboxMessage) -> InboxMessage:
    return InboxMessage(message.number, message.sender_id, message.body, message.created_at)
