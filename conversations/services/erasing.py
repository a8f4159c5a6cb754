"""Deletes messages for good, each kind of row with one statement.

Django's collector would read all of them first, and delete a hundred at a time.
"""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import QuerySet

from conversations.models import Attachment, Conversation, Feedback, Message, Share
from media.files.services.uploads import release
from work.jobs import services as jobs


def erase_messages(messages: QuerySet[Message]) -> None:
    """Delete these messages within the caller's transaction. Running replies are asked to stop;
    files without another message are purged."""
    cancel_replies(messages.filter(status=Message.Status.RUNNING))
    Feedback.objects.filter(message__in=messages).delete()
    attached = Attachment.objects.filter(message__in=messages)
    uploads = set(attached.values_list("upload", flat=True))
    attached.delete()
    Conversation.objects.filter(leaf__in=messages).update(leaf=None)
    messages._raw_delete(messages.db)
    release(upload_ids=uploads)


def cancel_replies(messages: Iterable[Message]) -> None:
    """Ask the running ones among these messages to stop."""
    jobs.cancel(job_ids=[each.pk for each in messages if each.status == Message.Status.RUNNING])


def erase_attachments(attachments: Collection[Attachment]) -> None:
    """Delete attachments within the caller's transaction; files without another message are
    purged."""
    Attachment.objects.filter(pk__in=[each.pk for each in attachments]).delete()
    release(upload_ids={each.upload_id for each in attachments})


def erase_conversations(conversation_ids: Collection[UUID]) -> None:
    """Delete conversations with all of their messages, as `erase_messages` does."""
    erase_messages(Message.objects.filter(conversation__in=conversation_ids))
    Share.objects.filter(conversation__in=conversation_ids).delete()
    conversations = Conversation.objects.filter(pk__in=conversation_ids)
    conversations._raw_delete(conversations.db)
