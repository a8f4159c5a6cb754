"""Writing to the log of a council, and to its user's own stream what their list shows now."""

from collections.abc import Sequence

from council import user_events
from council.models import Session
from council.selectors.sessions import summary_of
from events.services import append
from events.types import NewEvent, ToUser

_CHANGES_THE_ROW = frozenset(
    {
        "session.updated",
        "session.completed",
        "card.created",
        "card.version.created",
        "card.updated",
        "card.restored",
        "card.removed",
    }
)
# All events of a removed card's call that has ended: no other change may follow.
_COST_ALONE = {"usage.updated"}


def append_events(*, session: Session, events: Sequence[NewEvent]) -> None:
    """Append to the council's stream, at the end of a transaction. Where the council's row in the
    list has changed, its user's own stream has it, too; what a card costs that ends beside others
    comes with the next change."""
    append(stream_id=session.pk, events=events, to_users=_to_users(session, events))


def _to_users(session: Session, events: Sequence[NewEvent]) -> list[ToUser]:
    types = {event.type for event in events}
    if "session.created" in types:
        event = user_events.created(summary_of(session))
    elif types & _CHANGES_THE_ROW or types == _COST_ALONE:
        event = user_events.updated(summary_of(session))
    else:
        return []
    return [ToUser(session.account_id, [event])]
