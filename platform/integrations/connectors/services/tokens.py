"""The tokens of connectors: fresh ones for calls, and what happens when they end."""

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from msgspec.structs import replace

from common.encryption import Unreadable
from common.threads import release_connection
from events.services import append_to_user
from integrations.connectors import oauth, user_events
from integrations.connectors.errors import ConnectorNeedsReauth
from integrations.connectors.models import Connector
from integrations.connectors.oauth import GrantRefused, Tokens
from integrations.connectors.providers import Service
from integrations.connectors.signals import connector_changed
from integrations.connectors.types import ConnectorStatus, Provider

log = structlog.get_logger(__name__)


def access_token(*, connector: Connector) -> str:
    """An access token that lasts for a while, outside of any transaction.

    Raises ConnectorNeedsReauth, ConnectorUnavailable.
    """
    if connector.status == ConnectorStatus.NEEDS_REAUTH:
        raise ConnectorNeedsReauth
    try:
        token = connector.tokens.access
    except Unreadable:
        return renew(connector=connector, refused="")
    return renew(connector=connector, refused=token) if connector.is_about_to_end else token


def renew(*, connector: Connector, refused: str) -> str:
    """Another access token for one that has ended or that was refused, outside of any transaction.

    A refresh token is used once, so whoever needs another access token waits for the row, and takes
    what has been brought meanwhile. Raises ConnectorNeedsReauth, ConnectorUnavailable.
    """
    release_connection()
    try:
        with transaction.atomic(durable=True):
            tokens = _renewed(connector, refused)
    finally:
        # It may be a thread that makes this call alone.
        release_connection()
    if tokens is None:
        raise ConnectorNeedsReauth
    return tokens.access


def refreshed(service: Service, connector: Connector) -> Tokens:
    """New tokens of a connector, not saved yet. Raises GrantRefused, ConnectorUnavailable."""
    try:
        known = connector.tokens
    except Unreadable:
        raise GrantRefused from None
    if not known.refresh or connector.base_url != service.base_url:
        raise GrantRefused
    found = oauth.refresh(service, known.refresh)
    # A server that says nothing of the scopes leaves them as they are (RFC 6749, 5.1).
    return found if found.scopes is not None else replace(found, scopes=known.scopes)


def _renewed(connector: Connector, refused: str) -> Tokens | None:
    """None where the user has to consent again."""
    row = Connector.objects.select_for_update(no_key=True).filter(pk=connector.pk).first()
    if row is None or row.status == ConnectorStatus.NEEDS_REAUTH:
        return None
    try:
        if row.tokens.access != refused and not row.is_about_to_end:
            return row.tokens
        tokens = refreshed(settings.CONNECTORS[Provider(row.provider)], row)
    except (GrantRefused, Unreadable):
        _note_refusal(row)
        return None
    row.set_tokens(tokens)
    row.save()
    return tokens


def _note_refusal(row: Connector) -> None:
    log.info("connector.needs_reauth", connector=str(row.pk), provider=row.provider)
    row.refused_at = Now()
    row.save(update_fields=["refused_at"])
    row.refresh_from_db()
    # The rows of receivers are locked before the user's stream.
    connector_changed.send(sender=Connector, connector=row)
    append_to_user(user_id=row.account_id, events=[user_events.updated(row)])
