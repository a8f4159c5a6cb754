"""The events of a council, read from its log."""

import json
from typing import Any
from uuid import UUID

from events.models import Event


def types(session_id: UUID) -> list[str]:
    return [event.type for event in _events(session_id)]


def data_of(session_id: UUID, kind: str) -> list[dict[str, Any]]:
    """The data of the events of that type."""
    return [json.loads(event.data) for event in _events(session_id) if event.type == kind]


def _events(session_id: UUID) -> list[Event]:
    return list(Event.objects.filter(stream=session_id).order_by("seq"))
