"""Builds the JSON Schemas of what models take besides the prompt; their keywords are those of
`ai.catalog.params`."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MAX_SEED = 2**32 - 1
_MAX_PICTURES = 4
# The parameter that chooses the rate of a 3D asset.
STAGES = ("preview", "refine", "image")


def params(
    properties: Mapping[str, Json],
    *,
    priced_by: Sequence[str],
    formats: Sequence[str],
    prompt: Json,
    rules: Sequence[Json] = (),
    extend: Json | None = None,
) -> Json:
    """The schema of a model's params, whose fields are shown in the order of `properties`.

    `formats` are the media types of the results. `prompt` and `extend` are `x-prompt` and
    `x-extend` of `ai.catalog.params`.
    """
    schema: Json = {
        "$schema": _DIALECT,
        "type": "object",
        "properties": dict(properties),
        "x-order": list(properties),
        "x-priced-by": list(priced_by),
        "x-formats": list(formats),
        "x-prompt": prompt,
    }
    if rules:
        schema["allOf"] = list(rules)
    if extend is not None:
        schema["x-extend"] = extend
    return schema


def pictures(*, references: int, has_seed: bool = False) -> Json:
    """The params of an image model that takes up to so many reference pictures."""
    properties = {
        "size": choice(
            "Size", "Width and height in pixels.", ("1024x1024", "1536x1024", "1024x1536")
        ),
        "quality": choice(
            "Quality", "It decides the price.", ("low", "standard", "high"), default="standard"
        ),
        "n": whole_number("Pictures", "How many to make.", 1, _MAX_PICTURES, default=1),
        "references": {
            "title": "Reference pictures",
            "description": "Uploads, or results of jobs, that it is made of.",
            "type": "array",
            "items": {"type": "string", "format": "upload"},
            "maxItems": references,
        },
    }
    if has_seed:
        # The wires give each further picture the next number.
        properties["seed"] = seed(most=2**31 - 1 - _MAX_PICTURES)
    return params(
        properties,
        priced_by=("quality",),
        formats=("image/png", "image/jpeg", "image/webp"),
        prompt={"minLength": 1, "maxLength": 4_000},
    )


def choice(
    title: str,
    description: str,
    options: Sequence[str | int],
    *,
    default: str | int | None = None,
) -> Json:
    """A field with these values; the default is the first of them where none is named."""
    return {
        "title": title,
        "description": description,
        "type": "string" if isinstance(options[0], str) else "integer",
        "enum": list(options),
        "default": options[0] if default is None else default,
    }


def whole_number(
    title: str, description: str, least: int, most: int, *, default: int | None = None
) -> Json:
    """A field with a whole number from `least` to `most`."""
    field: Json = {
        "title": title,
        "description": description,
        "type": "integer",
        "minimum": least,
        "maximum": most,
    }
    return field if default is None else field | {"default": default}


def seed(most: int = _MAX_SEED) -> Json:
    """A field with the number that a result can be repeated with."""
    return whole_number("Seed", "With the same number the result is about the same.", 0, most)


def flag(title: str, description: str, *, default: bool) -> Json:
    """A field that is true or false."""
    return {"title": title, "description": description, "type": "boolean", "default": default}


def text(title: str, description: str, most: int) -> Json:
    """A field with a text of at most so many characters."""
    return {"title": title, "description": description, "type": "string", "maxLength": most}


def upload(title: str, description: str) -> Json:
    """A field with a picture: the id of an upload, or a result of a job (`params.with_results`)."""
    return {"title": title, "description": description, "type": "string", "format": "upload"}


def job(title: str, description: str) -> Json:
    """A field with the id of a job of the same model."""
    return {"title": title, "description": description, "type": "string", "format": "job"}


def given(name: str, *, says: str, **others: Json) -> Json:
    """The rule that with `name` the other fields fit these schemas; `says` is the error."""
    return {"dependentSchemas": {name: {"properties": others, "description": says}}}


def needs(name: str, other: str, *, says: str) -> Json:
    """The rule that `name` is given only together with `other`; `says` is the error."""
    return {"dependentSchemas": {name: {"required": [other], "description": says}}}


def without(name: str, *, says: str, **others: Json) -> Json:
    """The rule that without `name` the other fields fit these schemas; `says` is the error."""
    then = {"properties": others, "description": says}
    return {"if": {"not": {"required": [name]}}, "then": then}


def stage_needs(stage: str, name: str, *, says: str) -> Json:
    """The rule that a stage of a 3D asset has that field; `says` is the error."""
    condition = {"properties": {"stage": {"const": stage}}, "required": ["stage"]}
    return {"if": condition, "then": {"required": [name], "description": says}}
