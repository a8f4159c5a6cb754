"""Conversations as they stand in the database, without anybody having been asked."""

from accounts.models import User
from conversations.models import Conversation, Message

MODEL = "gpt-6-luna"
USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT


def talk(user: User, *said: str, **fields: object) -> Conversation:
    """A conversation of which all is said, by user and model in turns."""
    conversation = Conversation.objects.create(account=user, **fields)
    for number, content in enumerate(said):
        add(conversation, content, role=ASSISTANT if number % 2 else USER)
    return conversation


def add(
    conversation: Conversation, content: str, *, role: Message.Role = USER, **fields: object
) -> Message:
    """A message after the leaf, or after the `parent` that is named; it is the leaf from then on.
    Of a reply `fields` may tell more."""
    message = Message.objects.create(
        conversation=conversation,
        account_id=conversation.account_id,
        role=role,
        content=content,
        **{"parent": conversation.leaf, "model": MODEL if role == ASSISTANT else "", **fields},
    )
    conversation.leaf = message
    conversation.messages_count += 1
    conversation.characters += len(message.content) + len(message.reasoning)
    conversation.save(update_fields=["leaf", "messages_count", "characters"])
    return message
