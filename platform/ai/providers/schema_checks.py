"""What a provider does not take of a JSON Schema (draft 2020-12).

A provider enforces a part of JSON Schema alone. Where a schema has to be followed, what is outside
of that part is refused, because the provider would refuse or ignore it.
"""

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

# Keywords that say nothing about which values match.
ANNOTATIONS = frozenset(
    {"$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "title"}
)

_BY_NAME = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
_DEFINITIONS = ("$defs.", "definitions.")
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})


class Fault(NamedTuple):
    """What is wrong, in words, and where: `properties.age`, or empty for the whole schema."""

    what: str
    place: str

    def __str__(self) -> str:
        """A sentence."""
        told = self.what[0].upper() + self.what[1:]
        return f"{told} (at {self.place})." if self.place else f"{told}."


def first_fault(schema: Schema, fault_of: Callable[[Schema], str]) -> Fault | None:
    """The first fault of a schema or of one inside it. `fault_of` tells that of one schema without
    those inside it; it is empty where there is none."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        place, inner = waiting.pop()
        if not isinstance(inner, Mapping):
            return Fault("a schema has to be an object", place)
        if what := fault_of(inner):
            return Fault(what, place)
        waiting += [(f"{place}.{name}" if place else name, each) for name, each in _inner(inner)]
    return None


def adapted(schema: Schema, change: Callable[[Schema], Schema]) -> dict[str, Any]:
    """The schema, and each one inside it, as `change` makes it."""
    return {
        keyword: _adapted_value(keyword, value, change) for keyword, value in change(schema).items()
    }


def is_recursive(schema: Schema) -> bool:
    """Does a schema refer to one that it is a part of?"""
    referring: dict[str, set[str]] = {}
    waiting = ["#"]
    while waiting:
        reference = waiting.pop()
        if reference not in referring:
            referring[reference] = _references(_referred(reference, schema))
            waiting += referring[reference]
    try:
        TopologicalSorter(referring).prepare()
    except CycleError:
        return True
    return False


def _inner(schema: Schema) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        if keyword in _BY_NAME and isinstance(value, Mapping):
            yield from ((f"{keyword}.{name}", each) for name, each in value.items())
        elif keyword in _LISTS and isinstance(value, list):
            yield from ((f"{keyword}[{index}]", each) for index, each in enumerate(value))
        elif isinstance(value, Mapping) and keyword not in ANNOTATIONS | {"const", "enum"}:
            yield keyword, value


def _adapted_value(keyword: str, value: Any, change: Callable[[Schema], Schema]) -> Any:
    if keyword in _BY_NAME and isinstance(value, Mapping):
        return {name: _adapted_schema(each, change) for name, each in value.items()}
    if keyword in _LISTS and isinstance(value, list):
        return [_adapted_schema(each, change) for each in value]
    if keyword in ANNOTATIONS | {"const", "enum"}:
        return value
    return _adapted_schema(value, change)


def _adapted_schema(value: Any, change: Callable[[Schema], Schema]) -> Any:
    return adapted(value, change) if isinstance(value, Mapping) else value


def _references(schema: Any) -> set[str]:
    """What a schema refers to, without its definitions, which are there to be referred to."""
    found = set()
    waiting = [schema]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            if isinstance(inner.get("$ref"), str):
                found.add(inner["$ref"])
            waiting += [each for name, each in _inner(inner) if not name.startswith(_DEFINITIONS)]
    return found


def _referred(reference: str, root: Schema) -> Any:
    """What `#/$defs/Name` refers to; None where that is unknown."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
