"""Events for the owner of a conversation, and for the team where the space is shared: which users'
own streams are told.

Callers write them at the end of a transaction: the locks of the streams are the last ones.
"""

from collections.abc import Callable
from uuid import UUID

from conversations import user_events
from conversations.models import Conversation, Space
from conversations.selectors.access import OWNER
from events.services import append_to_users
from events.types import USER, NewEvent, ToUser
from teams.selectors.members import mates_of

# The event of a row for somebody with an access, by an actor.
_RowEvent = Callable[[Conversation, str, str], NewEvent]


def sharers_of(space: Space | None) -> list[UUID]:
    """The members of the owner's team, without the owner, with whom a space is shared. No query
    where it is not shared."""
    return [] if space is None or space.shared is None else mates_of(space.account_id)


def for_all(owner_id: UUID, space: Space | None, event: NewEvent) -> list[ToUser]:
    """The same event for the owner and for those with whom the space is shared."""
    return [ToUser(each, [event]) for each in (owner_id, *sharers_of(space))]


def publish_row(conversation: Conversation, *, actor: str = USER, is_new: bool = False) -> None:
    """Append the row of a conversation, which is read with its space and its running reply, for
    each with what they may do there."""
    event = user_events.created if is_new else user_events.updated
    append_to_users(_rows(conversation, event, actor))


def publish_move(conversation: Conversation, *, before: Space | None) -> None:
    """The same for a conversation that has been changed and may have been in another space before:
    those who do not see it any more are told that it is gone."""
    told = _rows(conversation, user_events.updated, USER)
    see = {to_user.user_id for to_user in told}
    gone = [user_events.deleted(conversation.pk)]
    lost = [ToUser(each, gone) for each in sharers_of(before) if each not in see]
    append_to_users([*told, *lost])


def publish_space(space: Space, *, was_shared: bool) -> None:
    """Append the row of a space, read as by its owner. A space that was taken back is gone for the
    others."""
    told = [ToUser(space.account_id, [user_events.space_updated(space, OWNER)])]
    if space.shared is not None:
        event = user_events.space_updated(space, space.shared)
        told += [ToUser(each, [event]) for each in sharers_of(space)]
    elif was_shared:
        event = user_events.space_deleted(space.pk)
        told += [ToUser(each, [event]) for each in mates_of(space.account_id)]
    append_to_users(told)


def _rows(conversation: Conversation, event: _RowEvent, actor: str) -> list[ToUser]:
    told = [ToUser(conversation.account_id, [event(conversation, OWNER, actor)])]
    space = conversation.space
    if space is not None and space.shared is not None:
        shared = event(conversation, space.shared, actor)
        told += [ToUser(each, [shared]) for each in sharers_of(space)]
    return told
