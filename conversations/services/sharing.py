"""Shares conversations by links."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts.models import User
from content import flags
from conversations.errors import NothingToShare, SharingOff
from conversations.models import Share
from conversations.selectors.sharing import snapshot_of
from conversations.services.locks import lock_owned


@transaction.atomic
def share(*, user: User, conversation_id: UUID) -> tuple[Share, bool]:
    """Let everybody who has the link read the conversation as it is now; and was it not shared
    before?

    The link stays the same until it is revoked. Raises SharingOff, NotFound, OwnerOnly or
    NothingToShare.
    """
    if not flags.PUBLIC_SHARING.is_on(user):
        raise SharingOff
    conversation = lock_owned(user, conversation_id)
    snapshot = snapshot_of(conversation)
    if not snapshot["messages"]:
        raise NothingToShare
    shared, is_new = Share.objects.update_or_create(
        conversation=conversation,
        defaults={"snapshot": snapshot, "updated_at": Now()},
        create_defaults={"snapshot": snapshot},
    )
    shared.refresh_from_db(fields=["created_at", "updated_at"])
    return shared, is_new


@transaction.atomic
def revoke(*, user: User, conversation_id: UUID) -> bool:
    """Revoke the link for good, if there is one; shared again, the conversation gets another.
    Raises NotFound, OwnerOnly."""
    conversation = lock_owned(user, conversation_id)
    deleted, _ = Share.objects.filter(conversation=conversation).delete()
    return bool(deleted)
