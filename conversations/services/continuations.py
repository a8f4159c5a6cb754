"""Beginning a conversation with messages from elsewhere."""

from collections.abc import Sequence

from django.db import transaction
from msgspec import Struct

from accounts.models import User
from conversations.errors import ConversationFull
from conversations.models import Conversation, Message
from conversations.selectors.conversations import default_title, get_listed
from conversations.services.conversations import check_room
from conversations.services.publishing import publish_row
from conversations.types import MAX_CHARACTERS, MAX_MESSAGES

_Source = Conversation.TitleSource


class Exchange(Struct, frozen=True, kw_only=True):
    """The user's question, and the finished answer of a model, which was billed already.
    `finish_reason` is why it ended."""

    question: str
    answer: str
    model: str
    finish_reason: str


@transaction.atomic
def continue_with(
    *, user: User, title: str, model: str, system: str, exchanges: Sequence[Exchange]
) -> Conversation:
    """Begin a conversation with these messages; `model` answers the next one. Without a title
    of the user's own it is called after its first message. Nothing is called, and nothing is
    billed.

    Raises ConversationFull, TooManyConversations, TooManyNewConversations.
    """
    characters = sum(len(each.question) + len(each.answer) for each in exchanges)
    if 2 * len(exchanges) > MAX_MESSAGES or characters > MAX_CHARACTERS:
        raise ConversationFull
    check_room(user)
    conversation = Conversation.objects.create(
        account=user,
        title=title or default_title(exchanges[0].question, ()),
        title_source=_Source.USER if title else _Source.FIRST_MESSAGE,
        model=model,
        system=system,
        messages_count=2 * len(exchanges),
        characters=characters,
    )
    for each in exchanges:
        _add(conversation, Message.Role.USER, content=each.question)
        _add(
            conversation,
            Message.Role.ASSISTANT,
            content=each.answer,
            model=each.model,
            finish_reason=each.finish_reason,
        )
    conversation.save(update_fields=["leaf"])
    publish_row(get_listed(user, conversation.pk), is_new=True)
    return conversation


def _add(conversation: Conversation, role: Message.Role, **fields: str) -> None:
    """Append a message after the leaf, and make it the leaf."""
    conversation.leaf = Message.objects.create(
        conversation=conversation,
        account_id=conversation.account_id,
        parent=conversation.leaf,
        role=role,
        **fields,
    )
