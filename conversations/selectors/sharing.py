"""Shared conversations: their links and snapshots."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet

from accounts.models import User
from ai.catalog.selectors import get_catalog
from common.errors import NotFound
from common.times import iso_utc
from conversations.models import Conversation, Message, Share
from conversations.selectors.branches import get_branch
from conversations.selectors.conversations import get_owned, public_default_title

# No part of UUIDs and signatures contains it, and browsers do not encode it.
_SEPARATOR = "."


def get_share(user: User, conversation_id: UUID) -> Share:
    """The share of the user's conversation, without its snapshot. Raises NotFound, OwnerOnly."""
    conversation = get_owned(user, conversation_id)
    share = Share.objects.defer("snapshot").filter(conversation=conversation).first()
    if share is None:
        raise NotFound
    return share


def share_token(share: Share) -> str:
    """The token of a link: the id with its HMAC-SHA256, under SECRET_KEY."""
    return _signer().sign(share.pk.hex)


def share_url(share: Share) -> str:
    """The page of the web app for the shared conversation."""
    base: str = settings.WEB_APP_URL
    return f"{base.rstrip('/')}/shared/{share_token(share)}"


def get_shared(token: str) -> dict[str, Any]:
    """The snapshot behind that token, with the names of its models. One query.

    Raises NotFound, whatever the reason: forged, revoked, deleted, or its owner's account closed.
    """
    live = shares_of(token).filter(conversation__account__status=User.Status.ACTIVE)
    snapshot: dict[str, Any] | None = live.values_list("snapshot", flat=True).first()
    if snapshot is None:
        raise NotFound
    return {**snapshot, "messages": [_told(message) for message in snapshot["messages"]]}


def shares_of(token: str) -> QuerySet[Share]:
    """The share behind that token, whoever owns it; none where it was forged or revoked."""
    try:
        share_id = UUID(_signer().unsign(token))
    except BadSignature:
        return Share.objects.none()
    return Share.objects.filter(pk=share_id)


def snapshot_of(conversation: Conversation) -> dict[str, Any]:
    """The snapshot of a conversation as it is now: the shown branch, as far as it has ended,
    without its owner and files; it says which messages had some."""
    branch = get_branch(conversation, conversation.leaf_id)
    return {
        "title": _title_of(conversation, branch),
        "messages": [_shown(message) for message in branch if _is_said(message)],
    }


def _title_of(conversation: Conversation, branch: list[Message]) -> str:
    """The title, if it is the user's, or a model's for the first message of this branch. Any other
    might reveal text or file names that are not shown."""
    source = conversation.title_source
    if source == Conversation.TitleSource.USER or not branch:
        return conversation.title
    roots = conversation.messages.filter(parent=None).order_by("created_at", "id")
    if source == Conversation.TitleSource.MODEL and branch[0] == roots.first():
        return conversation.title
    return public_default_title(branch[0])


def _is_said(message: Message) -> bool:
    return message.status != Message.Status.RUNNING and bool(message.content)


def _shown(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "content": message.content,
        "model": message.model or None,
        "created_at": iso_utc(message.created_at),
        "has_files": message.has_files,
    }


def _told(shown: dict[str, Any]) -> dict[str, Any]:
    """A message of a snapshot, which may be from before `has_files` was noted."""
    return {"has_files": False, **shown, "model_name": _name_of(shown["model"])}


def _name_of(model_id: str | None) -> str | None:
    """The name of a model; that of one which is not offered any more is its id."""
    model = get_catalog().find(model_id) if model_id else None
    return model.display_name if model else model_id


def _signer() -> Signer:
    return Signer(salt="conversations.share", sep=_SEPARATOR)
