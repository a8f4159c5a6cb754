"""The schemas of all event data, beside those of the OpenAPI document that they refer to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, cast

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import build_mocked_view
from drf_spectacular.utils import extend_schema, inline_serializer

from apidocs.openapi.document import inline_blank_and_null
from conversations.event_types import FRAMES
from events.declarations import EventType, declared_types
from events.replay import EVENTS

REFERENCE = "#/components/schemas/"
# What is sent of a reply over HTTP: no stream of events, but declared as one.
FRAMES_KIND = "frame"
# The schema of the envelope of all events, which replay answers with.
EVENT = type(cast(Any, EVENTS).child).__name__


def all_types() -> dict[str, Sequence[EventType]]:
    """All that is sent, by kind of stream."""
    return {**declared_types(), FRAMES_KIND: FRAMES}


def component_name(kind: str, name: str) -> str:
    """The name of the schema of the data of a type."""
    whole = name if name.startswith(f"{kind}.") else f"{kind}.{name}"
    words = re.split(r"\W", f"{whole}.data")
    return "".join(word.capitalize() for word in words)


@cache
def schemas() -> Mapping[str, Any]:
    """All schemas by name."""
    generated: dict[str, Any] = _Generator().get_schema(public=True)  # type: ignore[no-untyped-call]
    found: dict[str, Any] = generated["components"]["schemas"]
    inline_blank_and_null(found)
    for kind, types in all_types().items():
        for each in types:
            # Without fields the generator keeps none.
            found.setdefault(component_name(kind, each.name), {"type": "object"})
    return found


def needed_schemas(names: set[str]) -> dict[str, Any]:
    """Those of these names and all that they refer to, sorted."""
    needed: set[str] = set()
    missing = set(names)
    while missing:
        needed |= missing
        missing = {ref for name in missing for ref in _references(schemas()[name])} - needed
    return {name: schemas()[name] for name in sorted(needed)}


class _Generator(SchemaGenerator):
    """Generates the OpenAPI document with the schemas of event data among its components, so that
    both documents have the same names for the same things."""

    def parse(self, input_request: Any, public: bool) -> Any:
        paths = super().parse(input_request, public)  # type: ignore[no-untyped-call]
        view = build_mocked_view("GET", "/", extend_schema(), self.registry)
        for kind, types in all_types().items():
            for each in types:
                # A field belongs to one name of one serializer.
                fields = {name: deepcopy(field) for name, field in each.data.items()}
                data = inline_serializer(component_name(kind, each.name), fields)
                view.schema.resolve_serializer(data, "response")
        return paths


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(REFERENCE)
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)
