"""The files of messages."""

from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.models import User
from common.errors import NotFound
from common.ids import as_uuid
from conversations.models import Message
from conversations.selectors.access import readable_by
from conversations.selectors.messages import attachments_of
from media.files.models import Upload


def files_of(user: User, message_id: UUID | str) -> list[Upload]:
    """The files of a message that the user may read, in the order of the request. The message's own
    id comes before clients' ids, which are looked for among what the user has sent in their own
    conversations: of several messages with a client's id, the newest counts.

    Raises NotFound.
    """
    own_id = as_uuid(message_id)
    message = None if own_id is None else _find(user, own_id)
    if message is None:
        # Others may write there, too, and know the ids of the user's messages.
        owned = Message.objects.filter(account_id=user.pk, author_id=None)
        message = owned.filter(client_id=str(message_id)).order_by("-id").first()
    if message is None:
        raise NotFound
    return attachments_of([message])[message.pk]


def _find(user: User, message_id: UUID) -> Message | None:
    readable = Exists(readable_by(user).filter(pk=OuterRef("conversation")))
    return Message.objects.filter(readable, pk=message_id).first()
