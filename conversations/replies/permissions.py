"""Whether the reader of a reply may read on."""

from uuid import UUID

from django.db import InterfaceError, OperationalError

from accounts.models import User
from common.database import DatabaseUnavailable
from common.threads import in_thread
from conversations.models import Conversation
from conversations.selectors.access import OWNER, readable_by
from events.watch import Permission


def permission_of(user: User, conversation: Conversation) -> Permission | None:
    """To read the replies of a conversation that was read with the user's `access`. None for its
    owner, who never loses it."""
    if conversation.access == OWNER:
        return None

    async def may_read() -> bool:
        return await in_thread(_may_read, user, conversation.pk)

    return may_read


def _may_read(user: User, conversation_id: UUID) -> bool:
    try:
        return readable_by(user).filter(pk=conversation_id).exists()
    except (OperationalError, InterfaceError) as error:
        raise DatabaseUnavailable from error
