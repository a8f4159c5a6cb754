"""Reads connectors."""

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from common.errors import NotFound
from integrations.connectors.models import Connector
from integrations.connectors.types import Provider


def list_connectors(user: User) -> QuerySet[Connector]:
    """Those of the user."""
    return Connector.objects.filter(account=user)


def get_connector(user: User, connector_id: UUID) -> Connector:
    """One of the user's. Raises NotFound."""
    connector = list_connectors(user).filter(pk=connector_id).first()
    if connector is None:
        raise NotFound("You have no connector with this id.")
    return connector


def get_drive_connector(user: User, connector_id: UUID) -> Connector:
    """One of the user's that leads to files. Raises NotFound."""
    connector = get_connector(user, connector_id)
    if connector.provider != Provider.GOOGLE_DRIVE:
        raise NotFound("This connector leads to repositories: use it in a workspace.")
    return connector
