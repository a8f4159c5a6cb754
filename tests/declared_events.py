"""What a test has written and read of streams, held against what the apps declare."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import jsonschema_rs
from django.db import connection

from apidocs.asyncapi.schemas import FRAMES_KIND, REFERENCE, all_types, component_name, schemas
from devserver.paths import ROOT

# The kind of streams to which tests of jobs and operations write what they like.
MADE_UP = "tests"
_WRITTEN = """
SELECT s.kind, e.type, e.data FROM events_event e JOIN events_stream s ON s.id = e.stream_id
WHERE e.created_at >= %s AND s.kind <> %s
"""


class Written(NamedTuple):
    """An event in a stream of that kind. `data` is JSON."""

    kind: str
    type: str
    data: str


def now() -> datetime:
    """The time of the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def written_since(moment: datetime) -> list[Written]:
    """The events since then that are still there."""
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN, [moment, MADE_UP])
        return [Written(*row) for row in cursor.fetchall()]


def check(test: str, written: Sequence[Written]) -> None:
    """Assert that these events are declared so, and that they are all that the test with this id
    stands for in written_events.toml."""
    wrong = {each for event in written for each in problems(*event[:2], json.loads(event.data))}
    assert wrong == set(), "the test has written events that no app declares so"
    lacking = {
        (kind, name) for kind, types in writers().items() for name in types if types[name] == test
    } - {event[:2] for event in written}
    assert lacking == set(), "tests/written_events.toml says that the test writes these events"


def check_frame(part: Mapping[str, Any] | None) -> None:
    """Assert that a part of a reply is declared so. The last one is None."""
    if part is not None:
        data = {name: value for name, value in part.items() if name != "type"}
        assert [*problems(FRAMES_KIND, part["type"], data)] == []


def problems(kind: str, name: str, data: Any) -> Iterator[str]:
    """What is wrong with the data of an event of that type in a stream of that kind."""
    validator = _validators().get((kind, name))
    if validator is None:
        yield f"{kind} {name} is not declared"
    else:
        for error in validator.iter_errors(data):
            yield f"{kind} {name}: {'.'.join(map(str, error.instance_path))}: {error.message}"


@cache
def writers() -> dict[str, dict[str, str]]:
    """By kind of stream and type of event a test that writes such an event."""
    return tomllib.loads((ROOT / "tests" / "written_events.toml").read_text())


@cache
def _validators() -> dict[tuple[str, str], jsonschema_rs.Draft202012Validator]:
    """By kind and type. A field that is not described is wrong."""
    closed = json.loads(json.dumps(schemas()))
    for described in closed.values():
        if described.get("type") == "object":
            described.setdefault("additionalProperties", False)
    return {
        (kind, each.name): jsonschema_rs.Draft202012Validator(
            {
                "$ref": REFERENCE + component_name(kind, each.name),
                "components": {"schemas": closed},
            },
            validate_formats=True,
        )
        for kind, types in all_types().items()
        for each in types
    }
