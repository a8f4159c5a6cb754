"""The types of the events of exports (`privacy/user_events.py`)."""

from events.declarations import EventType
from privacy.serializers import ExportInEventSerializer

_ROW = {"export": ExportInEventSerializer()}

USER_EVENTS = [
    EventType("export.created", "an export of your data is being made", _ROW),
    EventType(
        "export.completed",
        "it is there; `GET /api/users/me/export` has the link",
        _ROW,
    ),
    EventType("export.failed", "it could not be made", _ROW, {"export": {"status": "failed"}}),
]
