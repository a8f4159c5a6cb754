"""`GET /v1/usage`: the query, and the report."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from uuid import UUID

from msgspec import Struct, field

from publicapi.v1.errors import InvalidBody, InvalidRange, KeyNotFound

MAX_DAYS = 92

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class UsageQuery(Struct, frozen=True):
    """A validated query. `first` and `last` are UTC days, both included; no `key_id` means all
    keys."""

    first: date
    last: date
    key_id: UUID | None
    csv: bool


class UsageTotals(Struct):
    """The sum over the account's keys. `usd` is billed dollars, exact to the nano-dollar."""

    requests: int
    tokens_in: int
    tokens_out: int
    usd: float


class KeyUsageRow(Struct):
    """The usage of one key. `hint` is its last four characters."""

    key_id: UUID
    name: str
    hint: str
    requests: int
    usd: float


class ModelUsageRow(Struct):
    """The usage of one model."""

    model: str
    requests: int
    usd: float


class UsageAnswer(Struct):
    """Usage of an account's keys, the dearest first: from the first second of the first UTC day to
    the last second of the last. The web app's usage is not included."""

    from_: datetime = field(name="from")
    to: datetime
    totals: UsageTotals
    by_key: list[KeyUsageRow]
    by_model: list[ModelUsageRow]
    object: Literal["usage"] = "usage"


def parse(query: dict[str, list[str]]) -> UsageQuery:
    """Validate a query; unknown parameters are ignored.

    Raises InvalidRange, KeyNotFound for a malformed key id, or InvalidBody for an unknown format.
    """
    first, last = _range(query)
    return UsageQuery(first, last, _key_id(query), _csv(query))


def first_second(day: date) -> datetime:
    """The first second of a UTC day."""
    return datetime.combine(day, time(), UTC)


def last_second(day: date) -> datetime:
    """The last second of a UTC day."""
    return datetime.combine(day, time(23, 59, 59), UTC)


def _range(query: dict[str, list[str]]) -> tuple[date, date]:
    today = datetime.now(UTC).date()
    first = _day(query, "from", default=today.replace(day=1))
    last = _day(query, "to", default=today)
    if first > last:
        raise InvalidRange(f"`from` ({first}) lies after `to` ({last}).", param="from")
    if last - first >= timedelta(days=MAX_DAYS):
        raise InvalidRange(f"A report covers at most {MAX_DAYS} days, `from` and `to` included.")
    return first, last


def _day(query: dict[str, list[str]], name: str, *, default: date) -> date:
    match query.get(name):
        case None:
            return default
        case [text] if _DAY.fullmatch(text):
            try:
                return date.fromisoformat(text)
            except ValueError:
                raise InvalidRange(f"`{name}`: there is no such day.", param=name) from None
    raise InvalidRange(f"`{name}` is one day, written YYYY-MM-DD.", param=name)


def _key_id(query: dict[str, list[str]]) -> UUID | None:
    match query.get("key"):
        case None:
            return None
        case [text]:
            try:
                return UUID(text)
            except ValueError:
                raise KeyNotFound from None
    raise KeyNotFound("`key` is the id of one key.")


def _csv(query: dict[str, list[str]]) -> bool:
    match query.get("format"):
        case None | ["json"]:
            return False
        case ["csv"]:
            return True
    raise InvalidBody("`format` is `json` or `csv`.", param="format")
