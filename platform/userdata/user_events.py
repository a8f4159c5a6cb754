"""Events of exports in the user's own stream."""

from events.types import SYSTEM, USER, NewEvent
from userdata.models import Export


def created(export: Export) -> NewEvent:
    return NewEvent("export.created", _row(export), USER)


def completed(export: Export) -> NewEvent:
    """The link is not told: it would be out of date when the event is replayed."""
    return NewEvent("export.completed", _row(export), SYSTEM)


def failed(export: Export) -> NewEvent:
    return NewEvent("export.failed", _row(export), SYSTEM)


def _row(export: Export) -> dict[str, object]:
    row = {
        "id": export.pk,
        "status": export.status,
        "size": export.size,
        "created_at": export.created_at,
        "ended_at": export.ended_at,
        "expires_at": export.expires_at,
    }
    return {"export": row}
