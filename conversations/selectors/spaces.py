"""Spaces for their owner, and for the owner's team."""

from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.models import User
from common.errors import NotFound
from conversations.models import Conversation, Space
from conversations.selectors.access import spaces_open_to

# Of the spaces of a page alone: a join would count those of all spaces first.
_COUNT = (
    Conversation.objects.filter(space=OuterRef("pk"))
    .order_by()
    .values("space")
    .annotate(count=Count("pk"))
    .values("count")
)


def list_spaces(user: User) -> QuerySet[Space]:
    """The user's spaces and those shared with them; each with its `account`, its
    `conversations_count`, and the user's `access`."""
    spaces = spaces_open_to(user).annotate(conversations_count=Coalesce(Subquery(_COUNT), 0))
    return spaces.select_related("account")


def get_space(user: User, space_id: UUID) -> Space:
    """One of these spaces, as in `list_spaces`. Raises NotFound."""
    space = list_spaces(user).filter(pk=space_id).first()
    if space is None:
        raise NotFound
    return space
