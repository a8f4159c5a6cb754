"""Events of exports in the user's own stream."""

from events.types import SYSTEM, USER, NewEvent
from privacy.models import Export
from privacy.serializers import ExportInEventSerializer


def created(export: Export) -> NewEvent:
    return NewEvent("export.created", _row(export), USER)


def completed(export: Export) -> NewEvent:
    """The link is not told: it would be out of date when the event is replayed."""
    return NewEvent("export.completed", _row(export), SYSTEM)


def failed(export: Export) -> NewEvent:
    return NewEvent("export.failed", _row(export), SYSTEM)


def _row(export: Export) -> dict[str, object]:
    return {"export": ExportInEventSerializer(export).data}
