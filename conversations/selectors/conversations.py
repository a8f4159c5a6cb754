"""Conversations for their owner."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from msgspec import Struct

from accounts.models import User
from common.errors import NotFound
from common.titles import first_line
from conversations.errors import SpaceNotFound
from conversations.models import Conversation, Message, Space
from conversations.selectors.history import list_states
from conversations.selectors.messages import MessageState, attachments_of
from conversations.selectors.search import Search
from conversations.types import MAX_TITLE
from files.models import Upload

_RUNNING = Message.objects.filter(conversation=OuterRef("pk"), status=Message.Status.RUNNING)


class Detail(Struct, frozen=True):
    """A conversation, and the messages of all its branches, the oldest first."""

    conversation: Conversation
    messages: list[MessageState]

    @property
    def running_message_id(self) -> UUID | None:
        """The running reply. It may have begun since the conversation was read."""
        running = (each.id for each in self.messages if each.status == Message.Status.RUNNING)
        return next(running, None)

    @property
    def shown(self) -> list[MessageState]:
        """The messages of the shown branch."""
        by_id: dict[UUID | None, MessageState] = {message.id: message for message in self.messages}
        branch: list[MessageState] = []
        message = by_id.get(self.conversation.leaf_id)
        while message is not None:
            branch.append(message)
            message = by_id.get(message.parent_id)
        return branch[::-1]


def list_conversations(
    user: User, *, space_id: UUID | None = None, search: Search | None = None
) -> QuerySet[Conversation]:
    """The user's conversations, filtered by a space and a search if these are given. Each has its
    `running_message_id`, the running reply. Raises SpaceNotFound."""
    owned = _owned(user).defer("system")
    if space_id is not None:
        if not Space.objects.filter(account=user, pk=space_id).exists():
            raise SpaceNotFound
        owned = owned.filter(space=space_id)
    if search is not None:
        owned = owned.filter(pk__in=search.found)
    return owned


def get_conversation(user: User, conversation_id: UUID) -> Conversation:
    """One of the user's conversations. Raises NotFound."""
    return _get(Conversation.objects.filter(account=user), conversation_id)


def get_listed(user: User, conversation_id: UUID) -> Conversation:
    """One of the user's conversations, as in `list_conversations`. Raises NotFound."""
    return _get(_owned(user), conversation_id)


def _get(owned: QuerySet[Conversation], conversation_id: UUID) -> Conversation:
    try:
        # With its space, which may be deleted while the caller still reads it.
        return owned.select_related("space").get(pk=conversation_id)
    except Conversation.DoesNotExist:
        raise NotFound from None


def get_detail(user: User, conversation_id: UUID) -> Detail:
    """One of the user's conversations with its messages. Raises NotFound, also where it is deleted
    meanwhile: no conversation is shown without its messages."""
    conversation = get_conversation(user, conversation_id)
    messages = list_states(user, conversation_id)
    if conversation.leaf_id is not None and not messages:
        raise NotFound
    return Detail(conversation, messages)


def is_titled(conversation_id: UUID, title: str) -> bool:
    """Is that the title of the conversation, of any owner?"""
    return Conversation.objects.filter(pk=conversation_id, title=title).exists()


def _owned(user: User) -> QuerySet[Conversation]:
    running = Subquery(_RUNNING.values("id"))
    return Conversation.objects.filter(account=user).annotate(running_message_id=running)


def default_title_of(conversation: Conversation) -> str:
    """The default title by the first message; empty where there is none."""
    first = conversation.messages.filter(parent=None).order_by("created_at", "id").first()
    return "" if first is None else default_title(first.content, attachments_of([first])[first.pk])


def default_title(content: str, uploads: Sequence[Upload]) -> str:
    """The first line of the first message, or the name of its first file where it has no words."""
    return (
        first_line(content, MAX_TITLE) or next((upload.name for upload in uploads), "")[:MAX_TITLE]
    )


def public_default_title(first: Message) -> str:
    """For everybody but the owner: the first line of the first message that is shared, and never
    the name of a file; empty where it has no words."""
    return first_line(first.content, MAX_TITLE)
