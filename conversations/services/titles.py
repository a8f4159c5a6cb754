"""Writing the title that a model has made."""

from uuid import UUID

from django.db import transaction

from billing.services import endings
from billing.types import Ending, Resolution
from conversations import user_events
from conversations.models import Conversation
from conversations.selectors.conversations import get_conversation
from events.services import tell_user
from events.types import SYSTEM

_Source = Conversation.TitleSource


def conclude(
    *, conversation_id: UUID, ending: Ending, title: str | None
) -> tuple[Resolution, str | None]:
    """End the call for a title with its charge, and entitle the conversation unless it has a title
    of its user's, or of a model's, by now. Returns the title if it was written, which all devices
    of the user's are told. May be repeated.
    """
    with transaction.atomic():
        resolution = endings.resolve(ending)
        if title is None or resolution.taken_over or not _entitle(conversation_id, title):
            return resolution, None
    return resolution, title


def _entitle(conversation_id: UUID, title: str) -> bool:
    untitled = Conversation.objects.filter(pk=conversation_id, title_source=_Source.FIRST_MESSAGE)
    if not untitled.update(title=title, title_source=_Source.MODEL):
        return False
    conversation = Conversation.objects.select_related("account").get(pk=conversation_id)
    row = get_conversation(conversation.account, conversation_id)
    tell_user(user_id=row.account_id, events=[user_events.updated(row, SYSTEM)])
    return True
