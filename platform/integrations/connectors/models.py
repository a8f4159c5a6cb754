"""Connectors, and the consents that are asked for."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from common.encryption import EncryptedField, decrypt, encrypt
from common.ids import uuid7
from integrations.connectors.oauth import Tokens
from integrations.connectors.types import ConnectorStatus, Provider

_PROVIDERS = [(provider.value, provider.value) for provider in Provider]
# What the columns are encrypted for.
_ACCESS = "connectors.access_token"
_REFRESH = "connectors.refresh_token"
_VERIFIER = "connectors.verifier"
# An access token that ends so soon is renewed before it is used.
_MARGIN = timedelta(minutes=1)


class Authorization(models.Model):
    """A consent that was asked for, found by the digest of its `state` and used once.

    `page` is the page of the web app on which the callback ends.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    provider = models.CharField(max_length=16, choices=_PROVIDERS)
    digest = models.BinaryField(max_length=32, unique=True)
    sealed_verifier = EncryptedField(purpose=_VERIFIER)
    page = models.CharField(max_length=2_000)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def verifier(self) -> str:
        """The code verifier of PKCE. Raises Unreadable."""
        return decrypt(self.sealed_verifier, purpose=_VERIFIER, owner=self.account_id).decode()

    def set_verifier(self, verifier: str) -> None:
        self.sealed_verifier = _sealed(verifier, _VERIFIER, self.account_id)


class ConnectorManager(models.Manager["Connector"]):
    """Connectors that their users have not disconnected."""

    def get_queryset(self) -> models.QuerySet["Connector"]:
        return super().get_queryset().filter(disconnected_at=None)


class Connector(models.Model):
    """A user's account `login` at a provider, reached with tokens that the user has consented to.

    `base_url` is that of the service (integrations/connectors/providers.py) when it was connected.
    `scopes` are null where the provider does not say. `expires_at`: of the access token.
    `refused_at`: when the provider refused our tokens. A disconnected one stays until its grant is
    revoked.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    provider = models.CharField(max_length=16, choices=_PROVIDERS)
    base_url = models.CharField(max_length=500, blank=True)
    login = models.CharField(max_length=255)
    scopes = models.JSONField(null=True)
    access_token = EncryptedField(purpose=_ACCESS)
    refresh_token = EncryptedField(purpose=_REFRESH, blank=True)
    expires_at = models.DateTimeField(null=True)
    refused_at = models.DateTimeField(null=True)
    disconnected_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ConnectorManager()
    with_disconnected = models.Manager()  # noqa: DJ012 - a manager too

    class Meta:
        base_manager_name = "with_disconnected"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "provider", "base_url", "login"],
                condition=models.Q(disconnected_at=None),
                name="accounts_are_connected_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["disconnected_at"],
                condition=models.Q(disconnected_at__isnull=False),
                name="connectors_to_revoke",
            )
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def status(self) -> ConnectorStatus:
        is_over = self.ends_at is not None and self.ends_at <= timezone.now()
        if is_over or self.refused_at is not None:
            return ConnectorStatus.NEEDS_REAUTH
        return ConnectorStatus.CONNECTED

    @property
    def ends_at(self) -> datetime | None:
        """When it ends by itself; None where the access token is renewed or does not expire."""
        return None if self.refresh_token else self.expires_at

    @property
    def is_about_to_end(self) -> bool:
        """Has the access token ended, or does it within a minute?"""
        return self.expires_at is not None and self.expires_at <= timezone.now() + _MARGIN

    @property
    def tokens(self) -> Tokens:
        """Raises Unreadable where no key reads them."""
        refresh = ""
        if self.refresh_token:
            owner = self.account_id
            refresh = decrypt(self.refresh_token, purpose=_REFRESH, owner=owner).decode()
        access = decrypt(self.access_token, purpose=_ACCESS, owner=self.account_id).decode()
        scopes = None if self.scopes is None else tuple(self.scopes)
        return Tokens(access=access, refresh=refresh, expires_at=self.expires_at, scopes=scopes)

    def set_tokens(self, tokens: Tokens) -> None:
        """The tokens from now on, not saved yet."""
        owner = self.account_id
        self.access_token = _sealed(tokens.access, _ACCESS, owner)
        self.refresh_token = _sealed(tokens.refresh, _REFRESH, owner) if tokens.refresh else ""
        self.expires_at = tokens.expires_at
        self.scopes = None if tokens.scopes is None else [*tokens.scopes]
        self.refused_at = None


def _sealed(plain: str, purpose: str, owner: UUID) -> str:
    return encrypt(plain.encode(), purpose=purpose, owner=owner)
