"""Events of exports in the user's own stream."""

from events.types import SYSTEM, USER, NewEvent
from userdata.models import Export


def created(export: Export) -> NewEvent:
    return NewEvent("export.created", _row(export), USER)


def ended(export: Export) -> NewEvent:
    """It is completed, or has failed. The link is not told: it would be out of date when the event
    is replayed."""
    return NewEvent(f"export.{export.status}", _row(export), SYSTEM)


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
