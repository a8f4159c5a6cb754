"""Whoever changes a conversation holds its row, so that one thing happens to it at a time."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from conversations.models import Conversation


def lock_conversation(user: User, conversation_id: UUID) -> Conversation:
    """The user's conversation, held until the transaction ends. Raises NotFound."""
    own = Conversation.objects.select_for_update(of=("self",)).select_related("account")
    conversation = own.filter(account=user, pk=conversation_id).first()
    if conversation is None:
        raise NotFound
    return conversation
