"""Encryption of secrets that have to be read again, under keys that can be changed.

The keys are derived from ENCRYPTION_KEYS, or from SECRET_KEY and its fallbacks where there are
none. The first one encrypts, and each of them decrypts. docs/operations/rotation.md says how a key
is changed.
"""

import base64
import binascii
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.utils.crypto import salted_hmac

from common.secret_keys import secret_keys


class Unreadable(Exception):
    """A secret was encrypted under another key, for another owner or purpose, or too long ago."""


class EncryptedField(models.TextField[Any, Any]):
    """A column of what `encrypt` returns, for one purpose; empty where there is no secret. Reading
    it decrypts nothing."""

    def __init__(self, *, purpose: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.purpose = purpose


def encrypt(plain: bytes, *, purpose: str, owner: UUID) -> str:
    """The secret, encrypted for that purpose and that owner alone."""
    return _cipher(purpose).encrypt(owner.bytes + plain).decode()


def decrypt(sealed: str, *, purpose: str, owner: UUID, within: timedelta | None = None) -> bytes:
    """The secret, encrypted no longer ago than `within`. Raises Unreadable."""
    seconds = None if within is None else int(within.total_seconds())
    try:
        plain = _cipher(purpose).decrypt(sealed, ttl=seconds)
    except (InvalidToken, binascii.Error, ValueError):
        raise Unreadable from None
    if plain[:16] != owner.bytes:
        raise Unreadable
    return plain[16:]


def reencrypt_all() -> tuple[int, int]:
    """Encrypt all stored secrets under the newest key. Returns the number of those that are, and of
    those that no key reads, which stay as they are."""
    outcomes = [outcome for model, field in _columns() for outcome in _reencrypt(model, field)]
    return outcomes.count(True), outcomes.count(False)


def _columns() -> Iterator[tuple[type[models.Model], EncryptedField]]:
    for model in apps.get_models():
        for field in model._meta.local_concrete_fields:
            if isinstance(field, EncryptedField):
                yield model, field


def _reencrypt(model: type[models.Model], field: EncryptedField) -> Iterator[bool]:
    """One row at a time, under its lock: a service may be about to change the secret."""
    rows = model._base_manager.exclude(**{field.attname: ""})
    for pk in rows.values_list("pk", flat=True):
        with transaction.atomic():
            row = rows.select_for_update().filter(pk=pk).first()
            if row is None:
                continue
            try:
                fresh = _cipher(field.purpose).rotate(getattr(row, field.attname)).decode()
            except InvalidToken:
                yield False
                continue
            rows.filter(pk=pk).update(**{field.attname: fresh})
            yield True


def _cipher(purpose: str) -> MultiFernet:
    keys: list[str] = settings.ENCRYPTION_KEYS or secret_keys()
    return MultiFernet([_fernet(purpose, key) for key in keys])


def _fernet(purpose: str, secret: str) -> Fernet:
    key = salted_hmac(purpose, "encryption", secret=secret, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
