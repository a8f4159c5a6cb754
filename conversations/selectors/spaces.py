"""Spaces for their owner."""

from uuid import UUID

from django.db.models import Count, QuerySet

from accounts.models import User
from common.errors import NotFound
from conversations.models import Space


def list_spaces(user: User) -> QuerySet[Space]:
    """The user's spaces, each with its `conversations_count`."""
    return Space.objects.filter(account=user).annotate(conversations_count=Count("conversations"))


def get_space(user: User, space_id: UUID) -> Space:
    """One of the user's spaces, as in `list_spaces`. Raises NotFound."""
    space = list_spaces(user).filter(pk=space_id).first()
    if space is None:
        raise NotFound
    return space
