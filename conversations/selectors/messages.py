"""Messages as those see them who may read their conversation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q, QuerySet
from msgspec import Struct
from msgspec.structs import replace

from accounts.models import User
from ai.generations.types import Text
from billing.errors import IdempotencyInProgress
from billing.selectors.charges import ChargeUsage, get_usage
from billing.selectors.idempotency import find_result, keeps_key
from billing.types import RequestKey
from common.errors import NotFound
from common.ids import as_uuid
from common.times import iso_utc
from conversations.errors import MessageExists, MessageNotFound, ReplyDeleted
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.access import readable_by
from events.selectors import list_data
from media.files.models import Upload


class Delta(Struct, frozen=True):
    """What is read of a `reply.delta`."""

    kind: Literal["text", "reasoning"]
    text: str


_decode_delta = msgspec.json.Decoder(Delta).decode


class MessageState(Struct, frozen=True):
    """A message as clients see it: moments as the interfaces write them, None for what it has not.
    Of a running reply the texts are what has come to its log.

    `usage` is what a reply was billed, None where it was not; `attachments` are in the order in
    which they were named; `feedback` is what the user thinks of a reply, `{rating, comment}`.
    `author_id` has sent the message, or asked for the reply; nobody else is shown its `usage`.
    """

    id: UUID
    role: str
    content: str
    reasoning: str | None
    model: str | None
    reasoning_effort: str | None
    status: str
    parent_id: UUID | None
    finish_reason: str | None
    error: dict[str, Any] | None
    context: dict[str, Any] | None
    created_at: str
    ended_at: str | None
    client_id: str | None
    author_id: UUID
    usage: ChargeUsage | None = None
    attachments: list[Upload] = []
    feedback: dict[str, Any] | None = None


def called(message_id: UUID | str) -> Q:
    """The message of that id within a conversation, be the id ours or its client's."""
    own = as_uuid(message_id)
    by_client = Q(client_id=str(message_id))
    return by_client if own is None else Q(pk=own) | by_client


def get_message(user: User, conversation_id: UUID, message_id: UUID | str) -> Message:
    """A message of a conversation that the user may read. Raises NotFound."""
    readable = Exists(readable_by(user).filter(pk=OuterRef("conversation")))
    messages = Message.objects.filter(readable, conversation=conversation_id)
    message = messages.select_related("feedback").filter(called(message_id)).first()
    if message is None:
        raise NotFound
    return message


def id_of(conversation: Conversation, field: str, message_id: UUID | str) -> UUID:
    """Our id of the message that a request names in that field. Raises MessageNotFound."""
    if str(message_id) == str(conversation.leaf_id):
        return cast(UUID, conversation.leaf_id)
    found = conversation.messages.filter(called(message_id)).values_list("pk", flat=True).first()
    if found is None:
        raise MessageNotFound(f"This conversation has no message of that `{field}`.")
    return found


def get_reply(user: User, conversation_id: UUID, message_id: UUID | str) -> Message:
    """A reply, or the newest reply to a user's message: its sender need not know yet what its reply
    is called. Raises NotFound."""
    message = get_message(user, conversation_id, message_id)
    reply = message if message.role == Message.Role.ASSISTANT else newest_reply(message)
    if reply is None:
        raise NotFound
    return reply


def newest_reply(question: Message) -> Message | None:
    """The reply to a message that was begun last."""
    return question.children.filter(role=Message.Role.ASSISTANT).order_by("-id").first()


def find_earlier(user: User, request_key: RequestKey | None) -> Message | None:
    """The reply of a request that was sent before, if that has begun one. Raises ReplyDeleted."""
    if request_key is None or (reply_id := find_result(user, request_key)) is None:
        return None
    return get_made(user, reply_id)


def get_made(user: User, reply_id: UUID) -> Message:
    """The reply that a request has begun before. Raises ReplyDeleted: what was billed under one
    name is not begun again under it because its reply was deleted."""
    reply = Message.objects.filter(pk=reply_id).first()
    if reply is None or reply.asker_id != user.pk:
        raise ReplyDeleted
    return reply


def find_sent(user: User, conversation: Conversation, sent: Mapping[str, Any]) -> Message | None:
    """The newest reply that the user has asked for to the message that was sent before with the
    `client_id` of this one; None where no message has that id. Raises MessageExists where the
    message of that id is another one, and ReplyDeleted, as `get_made` does."""
    client_id = sent.get("client_id")
    if client_id is None:
        return None
    # With the account, which the index begins with.
    messages = conversation.messages.filter(account_id=conversation.account_id)
    message = messages.filter(called(client_id)).first()
    if message is None:
        return None
    if message.asker_id != user.pk or not _matches(message, sent):
        raise MessageExists
    # Not one that another member has asked for: if that has failed, this would be billed again.
    asked = message.children.filter(role=Message.Role.ASSISTANT, author_id=message.author_id)
    reply = asked.order_by("-id").first()
    if reply is None:
        raise ReplyDeleted
    return reply


def _matches(message: Message, sent: Mapping[str, Any]) -> bool:
    """Has the message these words and files, and does it stand at the place that is named?"""
    if (message.role, message.content) != (Message.Role.USER, sent["content"]):
        return False
    files = message.attachments.order_by("id").values_list("upload_id", flat=True)
    if list(files) != list(sent.get("upload_ids") or ()):
        return False
    if "parent_id" not in sent:
        return True
    parent_id = sent["parent_id"]
    if parent_id is None or message.parent_id is None:
        return message.parent_id is parent_id
    return Message.objects.filter(called(parent_id), pk=message.parent_id).exists()


def is_answer(reply: Message) -> bool:
    """Is it what its request is answered with when that is sent again? If it has failed, and
    nothing was paid for it, the request is to be carried out again. Raises IdempotencyInProgress
    while it is written."""
    if reply.status == Message.Status.RUNNING:
        raise IdempotencyInProgress(retry_after=1)
    return reply.status != Message.Status.FAILED or keeps_key(reply.pk)


def state_of(user: User, message: Message) -> MessageState:
    """A message that the user may read, as it is."""
    content, reasoning = text_of(message)
    return replace(
        row_of(message),
        content=content,
        reasoning=reasoning or None,
        usage=get_usage(user, [message.pk]).get(message.pk),
        attachments=attachments_of([message])[message.pk],
        feedback=_feedback_on(user, message),
    )


def row_of(message: Message) -> MessageState:
    """What stands in a message's row, without what belongs to it."""
    return MessageState(
        id=message.pk,
        role=message.role,
        content=message.content,
        reasoning=message.reasoning or None,
        model=message.model or None,
        reasoning_effort=message.reasoning_effort or None,
        status=message.status,
        parent_id=message.parent_id,
        finish_reason=message.finish_reason or None,
        error=message.error,
        context=message.context or None,
        created_at=iso_utc(message.created_at),
        ended_at=None if message.ended_at is None else iso_utc(message.ended_at),
        client_id=message.client_id,
        author_id=message.asker_id,
    )


def _feedback_on(user: User, message: Message) -> dict[str, Any] | None:
    """What the user thinks of a reply; they have nothing to say of their own messages."""
    if message.role == Message.Role.USER or not hasattr(message, "feedback"):
        return None
    if message.feedback.account_id != user.pk:
        return None
    return {"rating": message.feedback.rating, "comment": message.feedback.comment or None}


def text_of(message: Message) -> Text:
    """What a message says, a running reply so far."""
    if message.status != Message.Status.RUNNING:
        return Text(message.content, message.reasoning)
    return text_in_log(message.pk)


def text_in_log(reply_id: UUID) -> Text:
    """What the log of a reply has of its text."""
    data = list_data(reply_id, event_type="reply.delta", after_seq=0)
    texts: dict[str, list[str]] = {"text": [], "reasoning": []}
    for delta in map(_decode_delta, data):
        texts[delta.kind].append(delta.text)
    return Text("".join(texts["text"]), "".join(texts["reasoning"]))


def attachments_of(messages: Iterable[Message]) -> defaultdict[UUID, list[Upload]]:
    """The files that go with each of these messages, in the order in which they were named."""
    questions = [message.pk for message in messages if message.role == Message.Role.USER]
    if not questions:  # Django would build the query that PostgreSQL need not see
        return defaultdict(list)
    return by_message(Attachment.objects.filter(message__in=questions))


def by_message(attached: QuerySet[Attachment]) -> defaultdict[UUID, list[Upload]]:
    """The files of these attachments, in the order in which they were named."""
    files: defaultdict[UUID, list[Upload]] = defaultdict(list)
    for attachment in attached.select_related("upload").order_by("id"):
        files[attachment.message_id].append(attachment.upload)
    return files
