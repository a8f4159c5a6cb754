"""Asks users for their consent, and takes what came of it (docs/decisions/0051)."""

import hashlib
import secrets
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from msgspec import Struct

from accounts.models import User
from accounts.services.users import lock_user
from common.encryption import Unreadable
from common.errors import ValidationFailed
from common.threads import release_connection
from events.services import append_to_user
from integrations.connectors import oauth, user_events
from integrations.connectors.errors import ConnectorNotConfigured, TooManyConnectors
from integrations.connectors.logins import login_of
from integrations.connectors.models import Authorization, Connector
from integrations.connectors.oauth import GrantRefused, Tokens
from integrations.connectors.providers import Service
from integrations.connectors.signals import connector_changed
from integrations.connectors.types import (
    AUTHORIZATION_LIFETIME,
    MAX_AUTHORIZATIONS,
    MAX_CONNECTORS,
    Provider,
)

_RANDOM_BYTES: Final = 32
_VERIFIER_BYTES: Final = 48  # 64 characters; RFC 7636 wants 43 to 128
_OVER: Final = "This authorization is unknown, was used or has expired. Begin again."


class Begun(Struct, frozen=True):
    """The page of consent, and until when the consent can be given."""

    authorize_url: str
    expires_at: datetime


class Return(Struct, frozen=True):
    """The page of the web app that an answer belongs on."""

    page: str
    is_open: bool


def begin(*, user: User, provider: Provider, page: str) -> Begun:
    """Ask for a consent that ends on `page`, one of CONNECTOR_PAGES.

    Raises ConnectorNotConfigured, TooManyConnectors, ValidationFailed for another page.
    """
    service = _configured(provider)
    page = page or settings.CONNECTOR_PAGES[0]
    if page not in settings.CONNECTOR_PAGES:
        raise ValidationFailed.of("return_to", "This is none of the pages of the web app.")
    state = secrets.token_urlsafe(_RANDOM_BYTES)
    verifier = secrets.token_urlsafe(_VERIFIER_BYTES)
    with transaction.atomic():
        lock_user(user)
        _check_number(user)
        _make_room(user)
        asked = Authorization(
            account=user,
            provider=provider,
            digest=_digest(state),
            page=page,
            expires_at=timezone.now() + AUTHORIZATION_LIFETIME,
        )
        asked.set_verifier(verifier)
        asked.save(force_insert=True)
    url = oauth.authorize_url(service, state=state, verifier=verifier)
    return Begun(url, asked.expires_at)


def find_return(*, provider: Provider, state: str, is_refused: bool) -> Return:
    """The page on which the answer of the server ends; a refusal ends the authorization."""
    asked = Authorization.objects.filter(
        provider=provider, digest=_digest(state), expires_at__gt=Now()
    )
    found = asked.first()
    if found is None or found.page not in settings.CONNECTOR_PAGES:
        return Return(settings.CONNECTOR_PAGES[0], is_open=False)
    if is_refused:
        asked.delete()
    return Return(found.page, is_open=True)


def finish(*, user: User, state: str, code: str) -> tuple[Connector, bool]:
    """Connect the account that the user has consented to, or renew its tokens. Returns the
    connector, and whether it is a new one.

    Raises ValidationFailed for a state that is not the user's or a code that will not do,
    ConnectorNotConfigured, TooManyConnectors, ConnectorUnavailable, ConnectorBusy.
    """
    provider, verifier = _take(user, state)
    service = _configured(provider)
    # Back to the pool: the provider may take a while.
    release_connection()
    try:
        tokens = oauth.exchange(service, code=code, verifier=verifier)
    except GrantRefused:
        problem = f"{service.name} does not accept this code. Begin again."
        raise ValidationFailed.of("code", problem) from None
    _check_scopes(service, tokens)
    login = login_of(service, tokens.access)
    return _store(user, service, login, tokens)


@transaction.atomic
def _take(user: User, state: str) -> tuple[Provider, str]:
    """The provider and the code verifier of an authorization of the user, which is used then."""
    rows = Authorization.objects.select_for_update()
    asked = rows.filter(account=user, digest=_digest(state), expires_at__gt=Now()).first()
    try:
        if asked is None:
            raise ValidationFailed.of("state", _OVER)
        verifier = asked.verifier
    except Unreadable:
        raise ValidationFailed.of("state", _OVER) from None
    asked.delete()
    return Provider(asked.provider), verifier


def _check_scopes(service: Service, tokens: Tokens) -> None:
    if tokens.scopes is None or any(scope in service.needed for scope in tokens.scopes):
        return
    problem = f"The consent lacks the scope {service.needed[0]}. Begin again, and allow it."
    raise ValidationFailed.of("code", problem)


@transaction.atomic
def _store(user: User, service: Service, login: str, tokens: Tokens) -> tuple[Connector, bool]:
    # Of two at once, the second one sees the first.
    lock_user(user)
    rows = Connector.objects.select_for_update(no_key=True)
    found = rows.filter(
        account=user, provider=service.provider, base_url=service.base_url, login=login
    ).first()
    if found is None:
        _check_number(user)
    connector = found or Connector(
        account=user, provider=service.provider, base_url=service.base_url, login=login
    )
    connector.set_tokens(tokens)
    connector.save()
    connector.refresh_from_db()
    event = user_events.created if found is None else user_events.updated
    # The rows of receivers are locked before the user's stream.
    connector_changed.send(sender=Connector, connector=connector)
    append_to_user(user_id=user.pk, events=[event(connector)])
    return connector, found is None


def _configured(provider: Provider) -> Service:
    service: Service = settings.CONNECTORS[provider]
    if not service.is_configured:
        raise ConnectorNotConfigured
    return service


def _check_number(user: User) -> None:
    if Connector.objects.filter(account=user).count() >= MAX_CONNECTORS:
        raise TooManyConnectors


def _make_room(user: User) -> None:
    """Forget what has expired, and the oldest of what is open."""
    mine = Authorization.objects.filter(account=user)
    mine.filter(expires_at__lte=Now()).delete()
    kept = mine.order_by("-pk").values_list("pk", flat=True)[: MAX_AUTHORIZATIONS - 1]
    mine.exclude(pk__in=[*kept]).delete()


def _digest(state: str) -> bytes:
    """256 random bits need no salt."""
    return hashlib.sha256(state.encode()).digest()
