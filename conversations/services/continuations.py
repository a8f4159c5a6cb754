"""Beginning a conversation with what was said elsewhere."""

from collections.abc import Sequence

from django.db import transaction
from msgspec import Struct

from accounts.models import User
from conversations.errors import ConversationFull
from conversations.models import Conversation, Message
from conversations.services import conversations
from conversations.types import MAX_CHARACTERS, MAX_MESSAGES


class Exchange(Struct, frozen=True, kw_only=True):
    """What the user asked, and the finished answer of a model, which somebody has billed already.
    `finish_reason` is why it ended."""

    question: str
    answer: str
    model: str
    finish_reason: str


@transaction.atomic
def continue_with(
    *, user: User, title: str, model: str, system: str, said: Sequence[Exchange]
) -> Conversation:
    """Begin a conversation in which this was said; `model` answers what comes next. Nothing is
    called, and nothing is billed.

    Raises ConversationFull, TooManyConversations, TooManyNewConversations.
    """
    characters = sum(len(each.question) + len(each.answer) for each in said)
    if 2 * len(said) > MAX_MESSAGES or characters > MAX_CHARACTERS:
        raise ConversationFull
    conversation = conversations.create(user=user, title=title, model=model, system=system)
    for each in said:
        _add(conversation, Message.Role.USER, content=each.question)
        _add(
            conversation,
            Message.Role.ASSISTANT,
            content=each.answer,
            model=each.model,
            finish_reason=each.finish_reason,
        )
    conversation.messages_count, conversation.characters = 2 * len(said), characters
    conversation.save(update_fields=["leaf", "messages_count", "characters"])
    return conversation


def _add(conversation: Conversation, role: Message.Role, **fields: str) -> None:
    """After the leaf; it is the leaf from then on."""
    conversation.leaf = Message.objects.create(
        conversation=conversation,
        account_id=conversation.account_id,
        parent=conversation.leaf,
        role=role,
        **fields,
    )
