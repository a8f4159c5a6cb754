"""Events of councils for the user's own stream: the list shows another row now."""

from uuid import UUID

from council.selectors.sessions import SessionSummary
from council.serializers.sessions import SessionRowSerializer
from events.types import USER, NewEvent


def created(row: SessionSummary) -> NewEvent:
    return NewEvent("council.created", _row(row), USER)


def updated(row: SessionSummary) -> NewEvent:
    """Its status, its title, its cards or what it has cost."""
    return NewEvent("council.updated", _row(row))


def deleted(session_id: UUID) -> NewEvent:
    return NewEvent("council.deleted", {"council_id": session_id}, USER)


def _row(row: SessionSummary) -> dict[str, object]:
    return {"council": SessionRowSerializer(row).data}
