"""Creates, changes and revokes API keys."""

import uuid
from collections.abc import Iterable
from typing import Unpack

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import keys
from accounts.errors import InvalidToken, KeyRevoked, TooManyKeys
from accounts.features import KeyFeature, features_of
from accounts.models import ApiKey, User
from accounts.services.users import lock_user
from accounts.types import KeyChanges
from ai.catalog.selectors import get_catalog
from common.database import get_database
from common.errors import NotFound, ValidationFailed
from common.money import NUSD_PER_USD, whole_cents

_REHASH = """
UPDATE accounts_apikey SET digest = %s, pepper = %s
WHERE id = (SELECT id FROM accounts_apikey WHERE id = %s FOR UPDATE SKIP LOCKED) RETURNING id"""

MAX_ACTIVE_KEYS = 5
MAX_SPEND_CAP_USD = 100_000


def create_key(
    *,
    user: User,
    name: str,
    monthly_spend_cap_usd: object = None,
    allowed_models: Iterable[str] = (),
    features: Iterable[KeyFeature] | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its raw text, which is not stored. Its features are the default ones
    (DEFAULT_KEY_FEATURES) where `features` is None.

    Raises TooManyKeys or ValidationFailed, or InvalidToken if the user was signed out everywhere
    since `user` was read.
    """
    key = ApiKey(
        account=user,
        name=name,
        monthly_spend_cap=_spend_cap(monthly_spend_cap_usd),
        allowed_models=_current_ids(allowed_models),
        features=features_of(settings.DEFAULT_KEY_FEATURES if features is None else features),
    )
    raw = keys.generate()
    key.set_key(raw)
    with transaction.atomic():
        # Creations of one account take turns here, so that two cannot both pass the limit, and none
        # is made by a session that another operation is just ending.
        if lock_user(user).token_version != user.token_version:
            raise InvalidToken
        if ApiKey.objects.owned_by(user).active().count() >= MAX_ACTIVE_KEYS:
            raise TooManyKeys
        key.save(force_insert=True)
    return key, raw


def update_key(*, user: User, key_id: uuid.UUID, **changes: Unpack[KeyChanges]) -> ApiKey:
    """Change the fields in `changes`. Raises NotFound, KeyRevoked or ValidationFailed."""
    values: dict[str, object] = {}
    if "name" in changes:
        values["name"] = changes["name"]
    if "monthly_spend_cap_usd" in changes:
        values["monthly_spend_cap"] = _spend_cap(changes["monthly_spend_cap_usd"])
    if "allowed_models" in changes:
        values["allowed_models"] = _current_ids(changes["allowed_models"])
    if "features" in changes:
        values["features"] = features_of(changes["features"])
    with transaction.atomic():
        key = _lock_key(user, key_id)
        if key.revoked_at is not None:
            raise KeyRevoked
        for field, value in values.items():
            setattr(key, field, value)
        key.save(update_fields=list(values))
    return key


def revoke_key(*, user: User, key_id: uuid.UUID) -> None:
    """Revoke the key for good; a second time changes nothing. Raises NotFound."""
    with transaction.atomic():
        key = _lock_key(user, key_id)
        if key.revoked_at is None:
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])


async def rehash_key(*, key_id: uuid.UUID, raw: str) -> None:
    """Store the key under the newest pepper. A key that another transaction has locked just now
    stays as it is, until its next use."""
    newest = (keys.digest(raw), keys.fingerprint(settings.API_KEY_PEPPER), key_id)
    await get_database().rows(_REHASH, newest)


def _lock_key(user: User, key_id: uuid.UUID) -> ApiKey:
    key = ApiKey.objects.owned_by(user).select_for_update(no_key=True).filter(pk=key_id).first()
    if key is None:
        raise NotFound
    return key


def _spend_cap(amount: object) -> int | None:
    """The nano-USD of a cap in a request; None is no cap."""
    if amount is None:
        return None
    field = "monthly_spend_cap_usd"
    if isinstance(amount, str):
        raise ValidationFailed.of(field, "A spend cap is a number of US dollars.")
    try:
        cap = whole_cents(amount)
    except ValueError as error:
        raise ValidationFailed.of(field, str(error)) from None
    if not 0 <= cap <= MAX_SPEND_CAP_USD * NUSD_PER_USD:
        raise ValidationFailed.of(field, f"A spend cap is 0 to {MAX_SPEND_CAP_USD:,} US dollars.")
    return cap


def _current_ids(names: Iterable[str]) -> list[str]:
    """The catalog ids of `names`, each once, in the order sent."""
    catalog = get_catalog()
    ids: dict[str, None] = {}
    for name in names:
        model = catalog.find(name)
        if model is None:
            raise ValidationFailed.of("allowed_models", f"There is no model named {name!r}.")
        if not model.is_public:
            raise ValidationFailed.of("allowed_models", f"{name!r} is not offered under /v1.")
        ids[model.id] = None
    return list(ids)
