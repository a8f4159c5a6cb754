"""Writes the title from a model."""

from uuid import UUID

from django.db import transaction

from billing.services import endings
from billing.types import Ending, Resolution
from conversations.models import Conversation
from conversations.selectors.conversations import get_listed
from conversations.services.publishing import publish_row
from events.types import SYSTEM

_Source = Conversation.TitleSource


def conclude(
    *, question_id: UUID, ending: Ending, title: str | None
) -> tuple[Resolution, str | None]:
    """End the call for a title with its charge, and write the title, unless the message was deleted
    or the conversation has a title of its user's or of a model's. Returns the title if it was
    written; the user's event stream reports it. May be repeated."""
    with transaction.atomic():
        resolution = endings.resolve(ending)
        if title is None or resolution.taken_over or not _entitle(question_id, title):
            return resolution, None
    return resolution, title


def _entitle(question_id: UUID, title: str) -> bool:
    untitled = Conversation.objects.filter(title_source=_Source.FIRST_MESSAGE)
    held = untitled.select_for_update(of=("self",)).select_related("account")
    conversation = held.filter(messages=question_id).first()
    # The message may have been deleted while this waited for the conversation's lock.
    if conversation is None or not conversation.messages.filter(pk=question_id).exists():
        return False
    conversation.title, conversation.title_source = title, _Source.MODEL
    conversation.save(update_fields=["title", "title_source"])
    publish_row(get_listed(conversation.account, conversation.pk), actor=SYSTEM)
    return True
