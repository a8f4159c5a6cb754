"""The calls of a demo account: their times, models and outcomes.

The same on every machine on the same day: each account has a random generator of its own.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter
from random import Random
from typing import Literal, cast

from msgspec import Struct

from ai.catalog.types import ImagePrice, Model, Price, TokenPrice
from demo import sizes
from demo.cast import Person, Rhythm
from demo.sizes import Size

Prices = Mapping[str, list[tuple[datetime, Price]]]
Ending = Literal["settled", "released", "expired"]

DAYS = 30
# An account's daily calls at the beginning, as a part of those at the end.
_AT_FIRST = 0.5
_WEEKEND: dict[Rhythm, float] = {"office": 0.15, "evening": 1.3, "round the clock": 0.7}
# How busy each hour of the day is, in UTC.
_HOURS: dict[Rhythm, tuple[int, ...]] = {
    "office": (0, 0, 0, 0, 0, 0, 1, 4, 8, 10, 10, 8, 5, 8, 10, 9, 7, 3, 1, 1, 0, 0, 0, 0),
    "evening": (1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 6, 8, 10, 10, 8, 5, 2),
    "round the clock": (2, 2, 1, 1, 2, 3, 4, 6, 8, 9, 9, 9, 8, 9, 9, 8, 8, 7, 6, 5, 5, 4, 3, 2),
}
# One provider had an outage, on the last weekday that is at least this many days back. On all other
# days nearly every call succeeds.
_BAD_PROVIDER, _BAD_DAY, _BAD_HOURS = "anthropic", 10, range(8, 18)
_FAILING_THEN, _FAILING, _LOST = 0.6, 0.012, 0.004


class Call(Struct, frozen=True):
    """`key` is the name of the API key, None in the web app."""

    at: datetime
    model: str
    price_version: int
    key: str | None
    size: Size
    ending: Ending


def calls_of(
    person: Person, now: datetime, models: Mapping[str, Model], prices: Prices
) -> Iterator[Call]:
    """All requests of the account in the days before `now`, funded or not, in no order."""
    random = Random(person.email)  # noqa: S311 - no secret
    liked = {name: weight for name, weight in person.models.items() if name in models}
    signed_up, _ = person.plans[0]
    bad_day = _last_weekday(now.date() - timedelta(days=_BAD_DAY))
    for day in range(min(signed_up - 1, DAYS), person.ended, -1):
        midnight = datetime.combine(now.date() - timedelta(days=day), time(), UTC)
        for _ in range(_how_many(person, random, midnight.weekday(), day)):
            at = midnight + _time_of_day(person.rhythm, random)
            model = models[_chosen(random, liked)]
            price = _price_at(prices[model.id], at)
            key = _key(person, random, model.id, day)
            size = _size(person, random, model, price)
            bad = at.date() == bad_day and at.hour in _BAD_HOURS and model.provider == _BAD_PROVIDER
            ending = _ending(random, size, _FAILING_THEN if bad else _FAILING)
            if at + timedelta(minutes=5) < now:
                yield Call(at, model.id, price.version_id, key, size, ending)


def _last_weekday(day: date) -> date:
    return day - timedelta(days=max(0, day.weekday() - 4))


def _how_many(person: Person, random: Random, weekday: int, day: int) -> int:
    growth = _AT_FIRST + (1 - _AT_FIRST) * (DAYS - day) / DAYS
    mean = person.calls * growth * (_WEEKEND[person.rhythm] if weekday >= 5 else 1.0)
    return max(0, round(random.gauss(mean, mean**0.5)))


def _time_of_day(rhythm: Rhythm, random: Random) -> timedelta:
    [hour] = random.choices(range(24), _HOURS[rhythm])
    return timedelta(hours=hour, milliseconds=random.randrange(3_600_000))


def _chosen(random: Random, weights: Mapping[str, int]) -> str:
    return random.choices(list(weights), list(weights.values()))[0]


def _price_at(versions: list[tuple[datetime, Price]], at: datetime) -> Price:
    """The price in force; for a time before the first price, the first."""
    return versions[max(0, bisect_right(versions, at, key=itemgetter(0)) - 1)][1]


def _key(person: Person, random: Random, model: str, day: int) -> str | None:
    """One of the account's keys that may call the model on that day, or the web app. Only programs
    ask for vectors."""
    weights = {
        key.name: key.weight
        for key in person.keys
        if key.created > day > key.revoked and (not key.models or model in key.models)
    }
    through_api = random.randrange(10) < person.through_api or model.startswith("text-embedding")
    return _chosen(random, weights) if weights and through_api else None


def _size(person: Person, random: Random, model: Model, price: Price) -> Size:
    if isinstance(price, ImagePrice):
        return sizes.pictures(random, price)
    per_token = cast(TokenPrice, price)
    if model.modality == "embedding":
        return sizes.texts(random, per_token)
    return sizes.conversation(random, model, per_token, person.length)


def _ending(random: Random, size: Size, failing: float) -> Ending:
    chance = random.random()
    if chance < failing:
        return "released"
    if size.kind == "chat" and chance > 1 - _LOST:
        return "expired"
    return "settled"
