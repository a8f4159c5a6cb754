"""Conversations for their owner, and for those whom the owner shares them with."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from msgspec import Struct

from accounts.models import User
from common.errors import NotFound
from common.titles import first_line
from conversations.errors import SpaceNotFound
from conversations.models import Conversation, Message, Space
from conversations.selectors.access import (
    check_owns,
    check_writes,
    owned_by,
    readable_by,
    spaces_open_to,
    with_access,
)
from conversations.selectors.history import list_states
from conversations.selectors.messages import MessageState, attachments_of
from conversations.selectors.search import Search
from conversations.types import MAX_TITLE
from media.files.models import Upload

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
    user: User, *, space: Space | None = None, search: Search | None = None
) -> QuerySet[Conversation]:
    """The user's own conversations, or those of a space that the user may read; of these the ones
    that a search has found, if it is given. Each has its `running_message_id`, the running reply,
    and the user's `access`."""
    listed = owned_by(user) if space is None else _in_space(space)
    listed = _with_running(listed).defer("system")
    return listed if search is None else listed.filter(pk__in=search.found)


def find_space(user: User, space_id: UUID) -> Space:
    """A space that a request names, with the user's `access`. Raises SpaceNotFound."""
    space = spaces_open_to(user).select_related("account").filter(pk=space_id).first()
    if space is None:
        raise SpaceNotFound
    return space


def get_conversation(user: User, conversation_id: UUID) -> Conversation:
    """A conversation that the user may read, with the user's `access`. Raises NotFound."""
    return _get(readable_by(user), conversation_id)


def get_writable(user: User, conversation_id: UUID) -> Conversation:
    """A conversation in which the user may write. Raises NotFound, ReadOnly."""
    conversation = get_conversation(user, conversation_id)
    check_writes(conversation.access)
    return conversation


def get_owned(user: User, conversation_id: UUID) -> Conversation:
    """One of the user's own conversations. Raises NotFound, OwnerOnly."""
    conversation = get_conversation(user, conversation_id)
    check_owns(conversation.access)
    return conversation


def get_listed(user: User, conversation_id: UUID) -> Conversation:
    """A conversation that the user may read, as in `list_conversations`. Raises NotFound."""
    return _get(_with_running(readable_by(user)), conversation_id)


def _get(readable: QuerySet[Conversation], conversation_id: UUID) -> Conversation:
    try:
        # With its space, which may be deleted while the caller still reads it.
        return readable.select_related("space").get(pk=conversation_id)
    except Conversation.DoesNotExist:
        raise NotFound from None


def get_detail(user: User, conversation_id: UUID) -> Detail:
    """A conversation that the user may read, with its messages. Raises NotFound, also where it is
    deleted meanwhile: no conversation is shown without its messages."""
    conversation = get_conversation(user, conversation_id)
    messages = list_states(user, conversation)
    if conversation.leaf_id is not None and not messages:
        raise NotFound
    return Detail(conversation, messages)


def is_titled(conversation_id: UUID, title: str) -> bool:
    """Is that the title of the conversation, of any owner?"""
    return Conversation.objects.filter(pk=conversation_id, title=title).exists()


def _in_space(space: Space) -> QuerySet[Conversation]:
    """The conversations of a space, which are all its owner's; with the access that the user has to
    the space."""
    conversations = Conversation.objects.filter(account=space.account_id, space=space)
    return with_access(conversations, space.access)


def _with_running(conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    return conversations.annotate(running_message_id=Subquery(_RUNNING.values("id")))


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
