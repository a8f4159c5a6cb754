"""What conversations cost."""

from uuid import UUID

from accounts.models import User
from billing.selectors.charges import get_billed
from conversations.models import Message


def conversation_cost(user: User, conversation_id: UUID) -> int:
    """What the user paid for all replies of a conversation, in nano-USD."""
    replies = Message.objects.filter(conversation=conversation_id, role=Message.Role.ASSISTANT)
    return get_billed(user, replies)
