"""Signing up, in and out, and the API keys: everything that writes in this app."""

import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Unpack

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from accounts import keys, tokens
from accounts.errors import (
    AccountSuspended,
    EmailTaken,
    InvalidCredentials,
    InvalidToken,
    KeyRevoked,
    TooManyKeys,
)
from accounts.models import ApiKey, RefreshFamily, User
from accounts.selectors import get_live_user
from accounts.types import KeyChanges, SignedIn
from catalog.selectors import get_catalog
from common.errors import NotFound, ValidationFailed
from common.money import NUSD_PER_USD, whole_cents

MAX_ACTIVE_KEYS = 5
MAX_ALLOWED_MODELS = 64
MAX_SPEND_CAP_USD = 100_000
# How long the predecessor still gets the same successor: two tabs may refresh at once.
REFRESH_GRACE = timedelta(seconds=30)


# --- Signing up, in and out ---------------------------------------------------------------------


def sign_up(*, email: str, password: str, name: str = "") -> SignedIn:
    """Create an account and sign it in.

    Raises EmailTaken, or ValidationFailed for a weak password or an address outside ASCII.
    """
    email = email.strip().lower()
    if not email.isascii():
        raise ValidationFailed.of("email", "Write the domain in its ASCII form (xn--...).")
    user = User(email=email, name=name)
    _check_password(password, user)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            return _open_family(user)
    except IntegrityError:
        if User.objects.filter(email=email).exists():
            raise EmailTaken from None
        raise


def sign_in(*, email: str, password: str) -> SignedIn:
    """Raises InvalidCredentials, after the same work for an unknown address as for a wrong
    password, or AccountSuspended.
    """
    user = User.objects.filter(email=email.strip().lower()).first()
    _give_connection_back()
    if user is None:
        make_password(password)
        raise InvalidCredentials
    if not user.check_password(password) or user.status == User.Status.DEACTIVATED:
        raise InvalidCredentials
    if user.status == User.Status.SUSPENDED:
        raise AccountSuspended
    with transaction.atomic():
        return _open_family(user)


def refresh(*, refresh_token: str) -> SignedIn:
    """Exchange a refresh token, once, for a new pair.

    The same token again within the grace gets the same successor; later it is taken for stolen:
    its whole family is revoked. Raises InvalidToken or AccountSuspended.
    """
    claims = tokens.read_refresh(refresh_token)
    with transaction.atomic():
        family = (
            RefreshFamily.objects.select_for_update()
            .filter(pk=claims.family_id, user_id=claims.user_id)
            .first()
        )
        if family is None:
            raise InvalidToken
        user = get_live_user(claims.user_id, claims.version)
        now = timezone.now()
        if claims.token_id == family.current:
            family.previous, family.current = family.current, uuid.uuid4()
            family.rotated_at = now
            family.save(update_fields=["previous", "current", "rotated_at"])
            return _pair(user, family)
        if claims.token_id == family.previous and now - family.rotated_at <= REFRESH_GRACE:
            return _pair(user, family)
        family.delete()
    raise InvalidToken


def sign_out(*, user: User) -> None:
    """Revoke every token issued to `user` so far."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(token_version=F("token_version") + 1)
        RefreshFamily.objects.filter(user=user).delete()


@transaction.atomic
def ensure_user(*, email: str, password: str, name: str, operator: bool = False) -> User:
    """The account of that address with that password, made or put right if need be. For seeds.

    Where the password changes, every token issued so far is revoked. An operator may use the admin.
    """
    user = User.objects.select_for_update(no_key=True).filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, password, name=name)
    elif not user.check_password(password):
        user.set_password(password)
        user.token_version += 1
    user.status = User.Status.ACTIVE
    user.email_verified = True
    user.is_staff = user.is_superuser = operator
    user.save()
    return user


def _give_connection_back() -> None:
    """Hashing takes long, and the pool's connections are few: the next query takes another."""
    if not connection.in_atomic_block:
        connection.close()


def _check_password(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationFailed.of("password", " ".join(error.messages)) from None


def _open_family(user: User) -> SignedIn:
    now = timezone.now()
    expired = RefreshFamily.objects.filter(user=user, rotated_at__lt=now - tokens.REFRESH_LIFETIME)
    expired.delete()
    return _pair(user, RefreshFamily.objects.create(user=user, rotated_at=now))


def _pair(user: User, family: RefreshFamily) -> SignedIn:
    claims = tokens.RefreshClaims(user.pk, user.token_version, family.pk, family.current)
    return SignedIn(
        user=user,
        access_token=tokens.access_token(user.pk, user.token_version),
        refresh_token=tokens.refresh_token(claims, issued_at=family.rotated_at),
    )


# --- API keys -----------------------------------------------------------------------------------


def create_key(
    *,
    user: User,
    name: str,
    monthly_spend_cap_usd: object = None,
    allowed_models: Iterable[str] = (),
) -> tuple[ApiKey, str]:
    """A new key and its raw text, which is not kept. Raises TooManyKeys or ValidationFailed."""
    key = ApiKey(
        account=user,
        name=name,
        monthly_spend_cap=_spend_cap(monthly_spend_cap_usd),
        allowed_models=_current_ids(allowed_models),
    )
    raw = keys.generate()
    key.digest, key.hint = keys.digest(raw), keys.hint(raw)
    with transaction.atomic():
        # Creations of one account queue up here, so that none can pass the limit beside another.
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if ApiKey.objects.owned_by(user).active().count() >= MAX_ACTIVE_KEYS:
            raise TooManyKeys
        key.save(force_insert=True)
    return key, raw


def update_key(*, user: User, key_id: uuid.UUID, **changes: Unpack[KeyChanges]) -> ApiKey:
    """Change what is named in `changes`. Raises NotFound, KeyRevoked or ValidationFailed."""
    values: dict[str, object] = {}
    if "name" in changes:
        values["name"] = changes["name"]
    if "monthly_spend_cap_usd" in changes:
        values["monthly_spend_cap"] = _spend_cap(changes["monthly_spend_cap_usd"])
    if "allowed_models" in changes:
        values["allowed_models"] = _current_ids(changes["allowed_models"])
    with transaction.atomic():
        key = _lock_key(user, key_id)
        if key.revoked_at is not None:
            raise KeyRevoked
        for field, value in values.items():
            setattr(key, field, value)
        key.save(update_fields=list(values))
    return key


def revoke_key(*, user: User, key_id: uuid.UUID) -> None:
    """End the key for good; a second time changes nothing. Raises NotFound."""
    with transaction.atomic():
        key = _lock_key(user, key_id)
        if key.revoked_at is None:
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])


def _lock_key(user: User, key_id: uuid.UUID) -> ApiKey:
    key = ApiKey.objects.owned_by(user).select_for_update(no_key=True).filter(pk=key_id).first()
    if key is None:
        raise NotFound
    return key


def _spend_cap(amount: object) -> int | None:
    """Nano-USD of a cap as sent; None is no cap."""
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
    """The catalog ids behind `names`, each once, in the order sent."""
    names = list(names)
    field = "allowed_models"
    if len(names) > MAX_ALLOWED_MODELS:
        raise ValidationFailed.of(field, f"At most {MAX_ALLOWED_MODELS} models can be listed.")
    catalog = get_catalog()
    ids: dict[str, None] = {}
    for name in names:
        model = catalog.find(name)
        if model is None:
            raise ValidationFailed.of(field, f"There is no model named {name!r}.")
        ids[model.id] = None
    return list(ids)
