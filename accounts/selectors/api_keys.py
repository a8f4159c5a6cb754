"""Reads API keys."""

import uuid

from django.conf import settings
from django.db.models import F

from accounts import keys
from accounts.models import ApiKey, ApiKeyQuerySet, User
from common.database import get_database


def list_keys(user: User) -> ApiKeyQuerySet:
    """All keys of `user`, revoked ones included."""
    return ApiKey.objects.owned_by(user)


def under_the_newest_pepper() -> ApiKeyQuerySet:
    """The keys that are stored under API_KEY_PEPPER, without revoked ones."""
    return ApiKey.objects.active().filter(pepper=_newest())


def under_earlier_peppers() -> ApiKeyQuerySet:
    """The keys that are stored under any other pepper, without revoked ones; the most recently used
    first."""
    latest = F("last_used_at").desc(nulls_last=True)
    return ApiKey.objects.active().exclude(pepper=_newest()).order_by(latest, "pk")


def _newest() -> str:
    return keys.fingerprint(settings.API_KEY_PEPPER)


async def has_key(account_id: uuid.UUID, key_id: uuid.UUID) -> bool:
    """Does the key belong to the account, revoked or not?"""
    rows = await get_database().rows(
        "SELECT 1 FROM accounts_apikey WHERE id = %s AND account_id = %s", (key_id, account_id)
    )
    return bool(rows)
