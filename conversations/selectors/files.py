"""The files of messages."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from common.ids import as_uuid
from conversations.models import Message
from conversations.selectors.messages import attachments_of
from files.models import Upload


def files_of(user: User, message_id: UUID | str) -> list[Upload]:
    """The files of the user's message, in the order of the request. The message's own id comes
    before clients' ids: of several messages with a client's id, the newest counts.

    Raises NotFound.
    """
    owned = Message.objects.filter(account_id=user.pk)
    own_id = as_uuid(message_id)
    message = None if own_id is None else owned.filter(pk=own_id).first()
    if message is None:
        message = owned.filter(client_id=str(message_id)).order_by("-id").first()
    if message is None:
        raise NotFound
    return attachments_of([message])[message.pk]
