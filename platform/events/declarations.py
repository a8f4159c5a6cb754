"""The types of events that are written, with the schema of their data.

Each app declares its own in `event_types.py` and registers them when it is ready
(`AppConfig.ready`). `/asyncapi.json` and the tables of docs/api/ are held against them, and the
events that tests write are validated against them (`tests/declared_events.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rest_framework.fields import Field


class EventType(NamedTuple):
    """A type of events. `data` has a field for each key of an event's data; a serializer is one,
    too. `example` is what the type says of its data and the schema cannot, such as a status: the
    rest of the example is made in `config.examples`. Of an object it changes the fields that it
    names."""

    name: str
    when: str
    data: Mapping[str, Field[Any, Any, Any, Any]]
    example: Mapping[str, Any] = {}


_DECLARED: dict[str, list[EventType]] = {}


def register(kind: str, types: Sequence[EventType]) -> None:
    """Declare what is written to the streams of that kind. Several apps write to users' streams."""
    _DECLARED.setdefault(kind, []).extend(types)


def declared_types() -> Mapping[str, Sequence[EventType]]:
    """By the kind of their streams, in the order of registration."""
    return _DECLARED
