"""Calls to the drives of connectors."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from accounts.models import User
from common.threads import release_connection
from integrations.connectors.drive import Drive, DrivePage
from integrations.connectors.errors import domain_error
from integrations.connectors.models import Connector
from integrations.connectors.selectors.connectors import get_drive_connector
from integrations.connectors.services import tokens
from integrations.safe_http.errors import HostError


@contextmanager
def open_drive(connector: Connector) -> Iterator[Drive]:
    """The drive of a connector, to be called outside of any transaction.

    An error that the block does not handle becomes the DomainError that it means:
    ConnectorNeedsReauth, ConnectorRefused, ConnectorBusy, ConnectorUnavailable, NotFound.
    """
    token = tokens.access_token(connector=connector)
    release_connection()

    def renew(refused: str) -> str:
        return tokens.renew(connector=connector, refused=refused)

    try:
        with Drive(connector.base_url, token, renew=renew) as drive:
            yield drive
    except HostError as error:
        raise domain_error(error) from error


def list_files(user: User, connector_id: UUID, *, query: str, page: str) -> DrivePage:
    """Files of the user's drive, the latest changed first; with `query` those with this text in
    their names. Raises NotFound and the errors of `open_drive`."""
    with open_drive(get_drive_connector(user, connector_id)) as drive:
        return drive.list_files(query=query, page=page)
