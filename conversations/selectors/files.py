"""The files of messages."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from conversations.models import Message
from conversations.selectors.messages import attachments_of
from files.models import Upload


def files_of(user: User, message_id: UUID) -> list[Upload]:
    """The files that go with a message of the user's, in the order in which they were named.

    Raises NotFound.
    """
    message = Message.objects.filter(account_id=user.pk, pk=message_id).first()
    if message is None:
        raise NotFound
    return attachments_of([message])[message.pk]
