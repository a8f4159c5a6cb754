"""Removes what a user has written into conversations of others."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Length

from accounts.models import User
from conversations.models import Attachment, Conversation, Message, Share
from conversations.selectors.conversations import default_title_of, get_listed
from conversations.services.publishing import publish_row
from conversations.types import DELETED
from events.types import SYSTEM
from media.files.services.uploads import release

_Source = Conversation.TitleSource


def erase_author(user: User, _: str) -> Iterator[str]:
    """Overwrite what the user has written into shared spaces of others, with the files. The
    messages stay, because others have gone on from them, and so do the replies, which are a model's
    words. What is left is found without a mark."""
    written = Message.objects.filter(author_id=user.pk, role=Message.Role.USER)
    left = written.filter(~Q(content=DELETED) | Q(attachments__isnull=False))
    while (conversation_id := left.values_list("conversation_id", flat=True).first()) is not None:
        _erase(conversation_id, user)
        yield ""


@transaction.atomic
def _erase(conversation_id: UUID, user: User) -> None:
    """The same in one conversation."""
    held = Conversation.objects.select_for_update(of=("self",)).select_related("account")
    conversation = held.filter(pk=conversation_id).first()
    if conversation is None:
        return
    messages = conversation.messages.filter(author_id=user.pk, role=Message.Role.USER)
    texts = set(messages.values_list("content", flat=True))
    _erase_files(conversation, messages)
    conversation.characters = F("characters") + _growth(messages)
    messages.update(content=DELETED, client_id=None)
    _erase_from_share(conversation, texts)
    _erase_title(conversation, user)
    conversation.save(update_fields=["title", "title_source", "characters"])
    publish_row(get_listed(conversation.account, conversation.pk), actor=SYSTEM)


def _growth(messages: QuerySet[Message]) -> int:
    """By how many characters the conversation grows when these messages are overwritten."""
    now: dict[str, int] = messages.aggregate(count=Count("pk"), characters=Sum(Length("content")))
    return now["count"] * len(DELETED) - now["characters"]


def _erase_files(conversation: Conversation, messages: QuerySet[Message]) -> None:
    """Delete the attachments of these messages, and the names that later replies have of them."""
    attached = Attachment.objects.filter(message__in=messages)
    uploads = set(attached.values_list("upload_id", flat=True))
    if not uploads:
        return
    attached.delete()
    release(upload_ids=uploads)
    names = {str(upload_id) for upload_id in uploads}
    for reply in conversation.messages.filter(context__attachments__0__isnull=False).only(
        "context"
    ):
        for file in reply.context["attachments"]:
            if file["id"] in names:
                file["name"] = DELETED
        reply.save(update_fields=["context"])


def _erase_title(conversation: Conversation, user: User) -> None:
    """Restore the default title of a conversation that begins with the user's words, unless
    somebody has given it another."""
    first = conversation.messages.filter(parent=None).order_by("created_at", "id").first()
    is_given = conversation.title_source == _Source.USER
    if first is None or first.author_id != user.pk or is_given:
        return
    conversation.title = default_title_of(conversation)
    conversation.title_source = _Source.FIRST_MESSAGE


def _erase_from_share(conversation: Conversation, texts: set[str]) -> None:
    """Overwrite these texts, and a title made of one, in what the link to the conversation
    shows. By whom its title was given is known only if it still is the conversation's."""
    share = Share.objects.filter(conversation=conversation).first()
    if share is None:
        return
    snapshot: dict[str, Any] = share.snapshot
    shown = snapshot["messages"]
    for message in shown:
        if message["role"] == Message.Role.USER and message["content"] in texts:
            message |= {"content": DELETED, "has_files": False}
    is_given = conversation.title_source == _Source.USER
    is_kept = is_given and snapshot["title"] == conversation.title
    if shown[0]["content"] == DELETED and not is_kept:
        snapshot["title"] = DELETED
    share.save(update_fields=["snapshot"])
