"""Events of connectors in the user's own stream."""

from uuid import UUID

from events.types import USER, NewEvent
from integrations.connectors.models import Connector
from integrations.connectors.serializers import ConnectorSerializer


def created(connector: Connector) -> NewEvent:
    return NewEvent("connector.created", _shown(connector), USER)


def updated(connector: Connector) -> NewEvent:
    """Its tokens were refused, or the user has consented again."""
    return NewEvent("connector.updated", _shown(connector))


def deleted(connector_id: UUID) -> NewEvent:
    return NewEvent("connector.deleted", {"connector_id": connector_id}, USER)


def _shown(connector: Connector) -> dict[str, object]:
    return {"connector": ConnectorSerializer(connector).data}
