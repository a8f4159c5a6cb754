"""Stops running replies."""

from uuid import UUID

from django.db import transaction

from accounts.models import User
from conversations.models import Message
from conversations.selectors.access import access_to, check_writes
from conversations.selectors.messages import get_reply
from work.jobs import services as jobs


@transaction.atomic
def stop(*, user: User, conversation_id: UUID, message_id: UUID | str) -> Message:
    """Ask a reply to stop, or the newest reply to a user's message. It ends by itself soon after;
    an ended reply stays as it is. Raises NotFound, ReadOnly."""
    check_writes(access_to(user, conversation_id))
    reply = get_reply(user, conversation_id, message_id)
    if reply.status == Message.Status.RUNNING:
        jobs.cancel(job_ids=[reply.pk])
    return reply
