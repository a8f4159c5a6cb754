"""Writes the history of the demo accounts, through the money functions, with the times of the
past."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import msgspec
from django.db import connection, transaction

from accounts.models import ApiKey, User
from accounts.services.api_keys import create_key
from ai.catalog.selectors import get_catalog, price_history
from ai.catalog.types import Model
from billing.models import Subscription
from billing.services import balance, months
from common.ids import uuid7
from common.money import NUSD_PER_USD
from demo.calls import Prices, calls_of
from demo.cast import CAST, Key, Person
from demo.events import Event, events_of, moment_of

_REPLAY = (Path(__file__).parent / "replay.sql").read_text()


def newcomers() -> list[Person]:
    """The members of the cast without an account. Existing accounts are left alone."""
    emails = [person.email for person in CAST]
    known = set(User.objects.filter(email__in=emails).values_list("email", flat=True))
    return [person for person in CAST if person.email not in known]


def write_history(*, people: list[Person], now: datetime) -> None:
    """Create these accounts, with the 30 days before `now`; each account whole or not at all.

    The catalog and the plans must exist.
    """
    models, prices = get_catalog().models, price_history()
    months.make_ahead(now=now, since=now - timedelta(days=31))
    for person in people:
        _live(person, now, models, prices)


@transaction.atomic
def _live(person: Person, now: datetime, models: Mapping[str, Model], prices: Prices) -> None:
    user = _sign_up(person, now)
    for model, granted in person.contract.items():
        if model in models:
            balance.set_contract(account=user, model_id=model, granted=granted * NUSD_PER_USD)
    keys = {key.name: _make_key(user, key, person, now, models) for key in person.keys}
    _replay(user, events_of(person, calls_of(person, now, models, prices), keys, now))
    for key in person.keys:
        if key.revoked >= 0:
            revoked_at = moment_of(person, key.revoked, now)
            ApiKey.objects.filter(pk=keys[key.name]).update(revoked_at=revoked_at)
    User.objects.filter(pk=user.pk).update(status=person.status)


def _sign_up(person: Person, now: datetime) -> User:
    """Without a password: nobody signs in to it."""
    day, _ = person.plans[0]
    signed_up_at = moment_of(person, day, now)
    user = User.objects.create_user(
        person.email,
        id=uuid7(signed_up_at),
        name=person.name,
        email_verified=person.email_verified,
        locale=person.locale,
        timezone=person.timezone,
    )
    User.objects.filter(pk=user.pk).update(created_at=signed_up_at)
    Subscription.objects.filter(account=user).update(started_at=signed_up_at)
    return user


def _make_key(
    user: User, key: Key, person: Person, now: datetime, models: Mapping[str, Model]
) -> UUID:
    allowed = [model for model in key.models if model in models]
    api_key, _ = create_key(
        user=user, name=key.name, monthly_spend_cap_usd=key.cap, allowed_models=allowed
    )
    ApiKey.objects.filter(pk=api_key.pk).update(created_at=moment_of(person, key.created, now))
    return api_key.pk


def _replay(user: User, events: list[Event]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_REPLAY)
        cursor.execute(
            "SELECT pg_temp.replay(%s, %s, %s)",
            (user.pk, uuid7(), msgspec.json.encode(events).decode()),
        )
