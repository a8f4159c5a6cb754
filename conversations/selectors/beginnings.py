"""What conversations are called that neither their user nor a model has named: `beginning` is for
their user, `public_beginning` for everybody else."""

from collections.abc import Sequence

from common.titles import first_line
from conversations.models import Conversation, Message
from conversations.selectors.messages import attachments_of
from conversations.types import MAX_TITLE
from files.models import Upload


def beginning_of(conversation: Conversation) -> str:
    """The beginning of the first message; empty where nothing is said yet."""
    first = conversation.messages.filter(parent=None).order_by("created_at", "id").first()
    return "" if first is None else beginning(first.content, attachments_of([first])[first.pk])


def beginning(content: str, uploads: Sequence[Upload]) -> str:
    """The first line of a message, or the name of its first file where it has no words."""
    return (
        first_line(content, MAX_TITLE) or next((upload.name for upload in uploads), "")[:MAX_TITLE]
    )


def public_beginning(first: Message) -> str:
    """The first line of the first message that is shown, and never the name of a file; empty where
    it has no words."""
    return first_line(first.content, MAX_TITLE)
