"""Writing the title that a model has made."""

from uuid import UUID

from django.db import transaction

from billing.services import endings
from billing.types import Ending, Resolution
from conversations.models import Conversation

_Source = Conversation.TitleSource


def conclude(
    *, conversation_id: UUID, ending: Ending, title: str | None
) -> tuple[Resolution, str | None]:
    """End the call for a title with its charge, and entitle the conversation unless it has a title
    of its user's, or of a model's, by now. Returns the title if it was written. May be repeated.
    """
    with transaction.atomic():
        resolution = endings.resolve(ending)
        if title is None or resolution.taken_over or not _entitle(conversation_id, title):
            return resolution, None
    return resolution, title


def _entitle(conversation_id: UUID, title: str) -> bool:
    untitled = Conversation.objects.filter(pk=conversation_id, title_source=_Source.FIRST_MESSAGE)
    changed = untitled.update(title=title, title_source=_Source.MODEL)
    return changed == 1
