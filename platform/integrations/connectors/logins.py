"""Whose tokens they are."""

from integrations.connectors.drive import Drive
from integrations.connectors.errors import ConnectorUnavailable, domain_error
from integrations.connectors.providers import Service
from integrations.connectors.types import Provider
from integrations.githosts.registry import connect
from integrations.githosts.types import HostKind
from integrations.safe_http.errors import HostError, TokenRefused


def login_of(service: Service, access_token: str) -> str:
    """The name of the account at the provider. Raises ConnectorUnavailable, ConnectorBusy,
    ConnectorRefused."""
    try:
        if service.provider == Provider.GOOGLE_DRIVE:
            with Drive(service.base_url, access_token) as drive:
                return drive.get_login()
        with connect(HostKind(service.provider), service.base_url, access_token) as host:
            return host.get_login()
    except TokenRefused:
        # It has just been issued.
        raise ConnectorUnavailable from None
    except HostError as error:
        raise domain_error(error) from None
