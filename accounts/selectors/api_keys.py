"""Reads API keys."""

import uuid

from accounts.models import ApiKey, ApiKeyQuerySet, User
from common.database import get_database


def list_keys(user: User) -> ApiKeyQuerySet:
    """All keys of `user`, revoked ones included."""
    return ApiKey.objects.owned_by(user)


async def has_key(account_id: uuid.UUID, key_id: uuid.UUID) -> bool:
    """Does the key belong to the account, revoked or not?"""
    rows = await get_database().rows(
        "SELECT 1 FROM accounts_apikey WHERE id = %s AND account_id = %s", (key_id, account_id)
    )
    return bool(rows)
