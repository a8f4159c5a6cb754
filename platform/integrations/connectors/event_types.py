"""The types of the events of connectors (`integrations/connectors/user_events.py`)."""

from rest_framework import serializers

from events.declarations import EventType
from integrations.connectors.serializers import ConnectorSerializer

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
