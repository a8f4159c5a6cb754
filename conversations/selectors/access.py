"""Who may read and write which spaces and conversations: the only place that says so.

A user has the spaces that they own, and those that other members of their team have shared. A
conversation is its owner's, and in a shared space also the team's.
"""

from typing import Literal
from uuid import UUID

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When

from accounts.models import User
from common.errors import NotFound
from conversations.errors import OwnerOnly, ReadOnly
from conversations.models import Conversation, Space
from teams.selectors.members import circle_of

# What somebody may do with a space or a conversation.
Access = Literal["owner", "write", "read"]
OWNER: Access = "owner"
# The attribute that the models declare.
_ACCESS = "access"


def spaces_open_to(user: User) -> QuerySet[Space]:
    """The user's spaces, and the shared ones of other members of the team; each with the user's
    `access`."""
    # The circle finds the rows by their index.
    spaces = Space.objects.filter(account__in=circle_of(user))
    spaces = spaces.filter(Q(account=user) | Q(shared__isnull=False))
    return spaces.annotate(**_access(user, "shared"))


def readable_by(user: User) -> QuerySet[Conversation]:
    """The conversations that the user may read, each with the user's `access`."""
    # No EXISTS of `spaces_open_to`: for one conversation all spaces of the team might be read.
    shared = Q(space__shared__isnull=False, space__account__in=circle_of(user))
    conversations = Conversation.objects.filter(Q(account=user) | shared)
    return conversations.annotate(**_access(user, "space__shared"))


def owned_by(user: User) -> QuerySet[Conversation]:
    """The user's own conversations, as in `readable_by`."""
    return with_access(Conversation.objects.filter(account=user), OWNER)


def with_access(conversations: QuerySet[Conversation], access: str) -> QuerySet[Conversation]:
    """These conversations, to which somebody has that `access`."""
    return conversations.annotate(**{_ACCESS: Value(access, CharField())})


def access_to(user: User, conversation_id: UUID) -> str:
    """What the user may do with a conversation. Raises NotFound where they may not read it."""
    conversation = readable_by(user).only("pk").filter(pk=conversation_id).first()
    if conversation is None:
        raise NotFound
    return conversation.access


def check_writes(access: str) -> None:
    """Raises ReadOnly."""
    if access == Space.Shared.READ:
        raise ReadOnly


def check_owns(access: str) -> None:
    """Raises OwnerOnly."""
    if access != OWNER:
        raise OwnerOnly


def _access(user: User, shared: str) -> dict[str, Case]:
    owns = When(account=user, then=Value(OWNER))
    return {_ACCESS: Case(owns, default=F(shared), output_field=CharField())}
