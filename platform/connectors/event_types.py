"""The types of the events of connectors (`connectors/user_events.py`)."""

from rest_framework import serializers

from connectors.serializers import ConnectorSerializer
from events.declarations import EventType

_ROW = {"connector": ConnectorSerializer()}

USER_EVENTS = [
    EventType("connector.created", "an account was connected", _ROW),
    EventType(
        "connector.updated",
        "its tokens were refused, or you have consented again",
        _ROW,
        {"connector": {"status": "needs_reauth"}},
    ),
    EventType("connector.deleted", "it is gone", {"connector_id": serializers.UUIDField()}),
]
