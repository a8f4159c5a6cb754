"""Disconnects connectors, and ends their grants at the providers."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from common.encryption import Unreadable
from common.errors import NotFound
from common.threads import release_connection
from events.services import append_to_user
from integrations.connectors import oauth, user_events
from integrations.connectors.errors import ConnectorUnavailable
from integrations.connectors.models import Authorization, Connector
from integrations.connectors.oauth import GrantRefused, Tokens
from integrations.connectors.providers import Service
from integrations.connectors.services.tokens import refreshed
from integrations.connectors.signals import connector_changed
from integrations.connectors.types import Provider

log = structlog.get_logger(__name__)

# A grant that could not be revoked for so long is given up; the user can end it at the provider.
_PATIENCE: Final = timedelta(days=3)
_AT_ONCE: Final = 100


def disconnect(*, user: User, connector_id: UUID) -> None:
    """Disconnect a connector and what stands on it, and end its grant at the provider; if the
    provider is away, later. Raises NotFound."""
    with transaction.atomic():
        rows = Connector.objects.select_for_update(no_key=True)
        connector = rows.filter(account=user, pk=connector_id).first()
        if connector is None:
            raise NotFound("You have no connector with this id.")
        connector.disconnected_at = Now()
        connector.save(update_fields=["disconnected_at"])
        connector.refresh_from_db()
        # The rows of receivers are locked before the user's stream.
        connector_changed.send(sender=Connector, connector=connector)
        append_to_user(user_id=user.pk, events=[user_events.deleted(connector_id)])
    # Back to the pool: the provider may take a while.
    release_connection()
    _revoke(connector)


def sweep() -> None:
    """Try again to revoke what could not be revoked, and forget authorizations that have
    expired."""
    Authorization.objects.filter(expires_at__lte=Now()).delete()
    waiting = Connector.with_disconnected.exclude(disconnected_at=None)
    for connector in waiting.order_by("disconnected_at")[:_AT_ONCE]:
        _revoke(connector)


def _revoke(connector: Connector) -> None:
    """Forget the tokens as soon as the provider does not accept them any more."""
    try:
        _end_grant(settings.CONNECTORS[Provider(connector.provider)], connector)
    except ConnectorUnavailable:
        since = connector.disconnected_at
        if since is None or since > timezone.now() - _PATIENCE:
            return
        log.warning("connector.not_revoked", connector=str(connector.pk))
    except (GrantRefused, Unreadable):
        log.info("connector.ended_before", connector=str(connector.pk))
    connector.delete()


def _end_grant(service: Service, connector: Connector) -> None:
    """Raises GrantRefused where it has ended already, Unreadable, ConnectorUnavailable."""
    if connector.base_url != service.base_url or not service.is_configured:
        # Another server gets no token of this one; the operator may set it up again.
        raise ConnectorUnavailable
    if service.ends_grant and _is_shared(connector):
        return
    tokens = connector.tokens
    # GitHub wants an access token that lives.
    if service.provider == Provider.GITHUB and connector.is_about_to_end:
        tokens = _kept(connector, refreshed(service, connector))
    oauth.revoke(service, tokens)


def _is_shared(connector: Connector) -> bool:
    """Does another connector, of whomever, stand on the same account at the provider?"""
    others = Connector.objects.filter(
        provider=connector.provider, base_url=connector.base_url, login=connector.login
    )
    return others.exclude(pk=connector.pk).exists()


def _kept(connector: Connector, tokens: Tokens) -> Tokens:
    """The old ones are of no use to the next attempt."""
    connector.set_tokens(tokens)
    connector.save()
    return tokens
