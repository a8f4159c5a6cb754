"""Messages as their owner sees them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
from django.db.models import QuerySet
from msgspec import Struct

from accounts.models import User
from billing.selectors.charges import ChargeUsage, get_usage
from common.errors import NotFound
from conversations.models import Attachment, Message
from events.selectors import list_data
from files.models import Upload

_RUNNING = Message.Status.RUNNING


class Delta(Struct, frozen=True):
    """What is read of a `reply.delta`."""

    kind: Literal["text", "reasoning"]
    text: str


_decode_delta = msgspec.json.Decoder(Delta).decode


class Spoken(NamedTuple):
    """What a reply has said so far."""

    content: str
    reasoning: str


class MessageState(Struct, frozen=True, kw_only=True):
    """A message. Of a running reply the texts are what has come to its log.

    `usage` is what a reply was billed, None where it was not; `attachments` are in the order in
    which they were named.
    """

    id: UUID
    role: str
    content: str
    reasoning: str
    model: str
    reasoning_effort: str
    status: str
    parent_id: UUID | None
    finish_reason: str
    error: dict[str, Any] | None
    context: dict[str, Any]
    usage: ChargeUsage | None
    attachments: list[Upload]
    created_at: datetime
    ended_at: datetime | None


def list_messages(user: User, conversation_id: UUID) -> list[Message]:
    """The messages of the user's conversation, of all branches: the oldest first, and none before
    the one that it follows, whatever the clocks said that made their ids."""
    own = list(_own(user, conversation_id).order_by("id"))
    unlisted = {message.pk: message for message in own}
    listed: list[Message] = []
    for newest in own:
        path: list[Message] = []
        message: Message | None = newest
        while message is not None and message.pk in unlisted:
            path.append(unlisted.pop(message.pk))
            message = unlisted.get(message.parent_id) if message.parent_id else None
        listed += reversed(path)
    return listed


def get_message(user: User, conversation_id: UUID, message_id: UUID) -> Message:
    """A message of the user's conversation. Raises NotFound."""
    message = _own(user, conversation_id).filter(pk=message_id).first()
    if message is None:
        raise NotFound
    return message


def state_of(user: User, message: Message) -> MessageState:
    """One of the user's messages."""
    [state] = states_of(user, [message])
    return state


def states_of(user: User, messages: Sequence[Message]) -> list[MessageState]:
    """The user's messages as they are. Two queries, and one for each that is running.

    Rows come before logs: what ends meanwhile is shown as running, with all its text.
    """
    replies = [message.pk for message in messages if message.role == Message.Role.ASSISTANT]
    usage = get_usage(user, replies) if replies else {}
    attachments = attachments_of(messages)
    return [_state(message, usage, attachments) for message in messages]


def spoken(message: Message) -> Spoken:
    """What a reply says, so far."""
    if message.status != _RUNNING:
        return Spoken(message.content, message.reasoning)
    told = list_data(message.pk, event_type="reply.delta", after_seq=0)
    texts: dict[str, list[str]] = {"text": [], "reasoning": []}
    for delta in map(_decode_delta, told):
        texts[delta.kind].append(delta.text)
    return Spoken("".join(texts["text"]), "".join(texts["reasoning"]))


def _own(user: User, conversation_id: UUID) -> QuerySet[Message]:
    return Message.objects.filter(conversation=conversation_id, account_id=user.pk)


def attachments_of(messages: Iterable[Message]) -> defaultdict[UUID, list[Upload]]:
    """The files that go with each of these messages, in the order in which they were named."""
    said = [message.pk for message in messages if message.role == Message.Role.USER]
    files: defaultdict[UUID, list[Upload]] = defaultdict(list)
    attached = Attachment.objects.filter(message__in=said).select_related("upload")
    for attachment in attached.order_by("id"):
        files[attachment.message_id].append(attachment.upload)
    return files


def _state(
    message: Message,
    usage: dict[UUID, ChargeUsage],
    attachments: defaultdict[UUID, list[Upload]],
) -> MessageState:
    content, reasoning = spoken(message)
    return MessageState(
        id=message.pk,
        role=message.role,
        content=content,
        reasoning=reasoning,
        model=message.model,
        reasoning_effort=message.reasoning_effort,
        status=message.status,
        parent_id=message.parent_id,
        finish_reason=message.finish_reason,
        error=message.error,
        context=message.context,
        usage=usage.get(message.pk),
        attachments=attachments[message.pk],
        created_at=message.created_at,
        ended_at=message.ended_at,
    )
