"""What orders of one kind can have beside the prompt, for descriptions of the interface."""

from collections.abc import Sequence
from typing import Any

from ai.catalog import seeds
from ai.catalog.params import with_results
from ai.catalog.types import Modality

Json = dict[str, Any]

# Keywords that are the same in all models. What else differs is in the `params` of each.
_SHARED = ("title", "type", "format", "items", "properties", "required", "additionalProperties")


def order_fields(modality: Modality) -> dict[str, Json]:
    """A JSON Schema for each field that a model of the price list takes. It allows what any of
    them takes: `examples` are the choices of all, and bounds are left out."""
    models = [
        with_results(model.params) for model in seeds.hosted_models() if model.modality == modality
    ]
    names = dict.fromkeys(name for params in models for name in params["properties"])
    fields = {
        name: [params["properties"][name] for params in models if name in params["properties"]]
        for name in names
    }
    return {name: _union(same, len(models)) for name, same in fields.items()}


def _union(same: Sequence[Json], models: int) -> Json:
    """One schema for a field of several models, of which there are so many."""
    union = {name: same[0][name] for name in _SHARED if name in same[0]}
    union["description"] = max((field["description"] for field in same), key=len)
    if len(same) < models:
        union["description"] += " Not every model takes it."
    if "items" in union:
        union["items"] = _plain(union["items"])
    choices = dict.fromkeys(choice for field in same for choice in field.get("enum", ()))
    if choices:
        union["examples"] = list(choices)
    return _plain(union)


def _plain(field: Json) -> Json:
    """The formats of our own are those of ids."""
    if "properties" in field:
        inner = {name: _plain(each) for name, each in field["properties"].items()}
        field = field | {"properties": inner}
    return field | {"format": "uuid"} if field.get("format") in ("upload", "job") else field
