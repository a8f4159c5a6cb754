"""The files of messages."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from conversations.models import Message
from conversations.selectors.messages import attachments_of, called
from files.models import Upload


def files_of(user: User, message_id: UUID | str) -> list[Upload]:
    """The files that go with a message of the user's, in the order in which they were named; with
    the newest one, where clients have brought one id in several conversations.

    Raises NotFound.
    """
    own = Message.objects.filter(account_id=user.pk)
    message = own.filter(called(message_id)).order_by("-id").first()
    if message is None:
        raise NotFound
    return attachments_of([message])[message.pk]
