"""The events of one demo account, in the order of time, as `replay.sql` carries them out."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from random import Random
from uuid import UUID

from msgspec import Struct

from billing.units import Units
from common.ids import uuid7
from common.money import NUSD_PER_USD
from common.times import iso_utc
from demo.calls import Call
from demo.cast import Person

# Plans and balances change within this many seconds after this time: no account whose balance is
# removed makes calls that early.
_EARLY, _SECONDS = time(4, tzinfo=UTC), 90 * 60
_FAILED_AFTER, _LAST_SEEN, _EXPIRED_AFTER = 0.8, 2.0, 45.0  # seconds


class Event(Struct, kw_only=True):
    """A money function, its time in ISO 8601, and its parameters: amounts in nano-USD."""

    at: str
    verb: str
    id: UUID | None = None
    plan: str | None = None
    amount: int | None = None
    description: str | None = None
    api_key: UUID | None = None
    model: str | None = None
    price_version: int | None = None
    source: str | None = None
    kind: str | None = None
    worst: int | None = None
    request_id: str | None = None
    cost: int = 0
    units: Units = {}


def moment_of(person: Person, day: int, now: datetime) -> datetime:
    """The time of that person's action on a day before `now`: early in the morning, in UTC."""
    random = Random(f"{person.email} {day}")  # noqa: S311 - no secret
    early = datetime.combine(now.date() - timedelta(days=day), _EARLY)
    return early + timedelta(seconds=random.randrange(_SECONDS))


def events_of(
    person: Person, calls: Iterable[Call], keys: Mapping[str, UUID], now: datetime
) -> list[Event]:
    """Plans, credits and calls. `keys` are the ids of the account's keys by name."""
    events = [*_account_events(person, now)]
    for call in calls:
        events += _call_events(call, keys[call.key] if call.key else None)
    # All times have the same format, so they sort as text.
    return sorted(events, key=lambda event: event.at)


def _account_events(person: Person, now: datetime) -> Iterator[Event]:
    for day, plan in person.plans:
        yield Event(at=iso_utc(moment_of(person, day, now)), verb="plan", plan=plan)
    for credit in person.credits:
        at = moment_of(person, credit.day, now)
        yield Event(
            at=iso_utc(at),
            verb="adjust" if credit.by_operator else "topup",
            id=uuid7(at),
            amount=None if credit.amount is None else credit.amount * NUSD_PER_USD,
            description=credit.description,
        )


def _call_events(call: Call, key: UUID | None) -> Iterator[Event]:
    """The hold and the end of a call; for a lost call, its last checkpoint before the end."""
    charge, size = uuid7(call.at), call.size
    yield Event(
        at=iso_utc(call.at),
        verb="hold",
        id=charge,
        api_key=key,
        model=call.model,
        price_version=call.price_version,
        source="api" if key else "web",
        kind=size.kind,
        worst=size.worst,
        request_id=f"req_{charge.hex}",
    )
    used = Event(
        at=_later(call.at, size.seconds),
        verb="settled",
        id=charge,
        cost=size.cost,
        units=size.units,
    )
    if call.ending == "settled":
        yield used
    elif call.ending == "released":
        yield Event(at=_later(call.at, _FAILED_AFTER), verb="released", id=charge)
    else:
        used.at, used.verb = _later(call.at, _LAST_SEEN), "checkpoint"
        yield used
        yield Event(at=_later(call.at, _EXPIRED_AFTER), verb="expired", id=charge)


def _later(at: datetime, seconds: float) -> str:
    return iso_utc(at + timedelta(seconds=seconds))
