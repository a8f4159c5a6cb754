"""Ends the grants of a user whose data is to be deleted."""

from contextlib import suppress

from accounts.models import User
from common.errors import NotFound
from integrations.connectors.models import Connector
from integrations.connectors.services.connectors import disconnect


def close(user: User) -> bool:
    """Disconnect all connectors. Returns whether every grant has ended, or was given up."""
    connected = Connector.objects.filter(account=user)
    for connector_id in list(connected.values_list("pk", flat=True)):
        with suppress(NotFound):
            disconnect(user=user, connector_id=connector_id)
    return not Connector.with_disconnected.filter(account=user).exists()
