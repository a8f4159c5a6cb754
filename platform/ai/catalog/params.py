"""What a model takes besides the prompt: its params, as a JSON Schema of draft 2020-12.

A user interface can be built from the schema alone, and every request is checked against it.
Rules that concern several fields are in `allOf`; the `description` of a rule is its error. The
keywords and formats of our own are:

- `x-order`: the names of the fields in the order in which they are shown
- `x-priced-by`: the fields that choose the rate (see `Params.variant`)
- `x-formats`: the media types of the results
- `x-prompt`: `minLength` and `maxLength` of the prompt, the former in characters, the latter in
  UTF-16 units, as in HTML; `optional` and `unused`: values of fields with which it may be empty,
  and with which it has to be
- `x-extend`, where a clip can be extended: by how many `seconds`, to a total of the `longest`;
  whether the result is the whole clip (`combined`), and its `resolution` where that is fixed
- the formats `upload` (the id of an uploaded picture, or a result: `with_results`) and `job` (the
  id of a job)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any
from uuid import UUID

import jsonschema_rs

from ai.catalog.param_errors import MIXED_UP, expected, rule_text
from common.errors import ValidationFailed

# Of the Python values that a JSON parser makes. A float is no whole number, even if it is 1.0.
_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
# A picture is the id of an upload, or a result of a job: the first one, or another `output`.
_PICTURE: Mapping[str, Any] = {
    "type": ["string", "object"],
    "properties": {
        "job": {"type": "string", "format": "job"},
        "output": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["job"],
    "additionalProperties": False,
}

# Where a value stands: the name of its field, and its index in a list.
Loc = tuple[str | int, ...]
Problem = tuple[Loc, str]


@dataclass(frozen=True, slots=True)
class Extension:
    """How a clip is extended: by one of these `seconds`, to at most `longest` in total.

    `combined`: the result is the whole clip, not only its new part. `resolution`: that of the
    result where it is not the clip's own.
    """

    seconds: tuple[int, ...]
    longest: int
    combined: bool
    resolution: str | None


@dataclass(frozen=True)
class Params:
    """The params of a model. `schema` is empty where it takes none; `known` are the names of the
    fields of all models."""

    schema: Mapping[str, Any]
    known: frozenset[str] = frozenset()

    @property
    def fields(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of each field."""
        fields: Mapping[str, Mapping[str, Any]] = self.schema.get("properties", {})
        return fields

    @property
    def takes_uploads(self) -> bool:
        """Does a field take uploaded pictures?"""
        return any(
            field.get("items", field).get("format") == "upload" for field in self.fields.values()
        )

    @cached_property
    def variants(self) -> frozenset[str]:
        """All variants that values can choose; each needs a rate."""
        fields = {name: self.fields[name] for name in self._priced_by}
        choices = [field.get("enum", (False, True)) for field in fields.values()]
        return frozenset(
            self.variant(dict(zip(fields, chosen, strict=True))) for chosen in product(*choices)
        )

    @property
    def extension(self) -> Extension | None:
        """How a clip of the model is extended, or None where it cannot be."""
        extend = self.schema.get("x-extend")
        if extend is None:
            return None
        return Extension(
            tuple(extend["seconds"]),
            extend["longest"],
            extend["combined"],
            extend.get("resolution"),
        )

    def variant(self, values: Mapping[str, Any]) -> str:
        """The key of the rate for checked values: those of the fields that choose it, such as
        `720p`, joined by a plus. A field that is true stands there by its name: `720p+audio`."""
        chosen = {name: values[name] for name in self._priced_by}
        return "+".join(
            name if value is True else str(value)
            for name, value in chosen.items()
            if value is not False
        )

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the fields, with the defaults of those that are left out, and without the
        fields that no model has. No value is converted.

        Raises ValidationFailed for a field of other models, and for a value that does not fit;
        `errors` names each of them.
        """
        checked = {
            name: values.get(name, field.get("default"))
            for name, field in self.fields.items()
            if name in values or "default" in field
        }
        problems: dict[Loc, str] = {
            (name,): MIXED_UP for name in values if name in self.known and name not in self.fields
        }
        for loc, text in self._misfits(checked):
            problems.setdefault(loc, text)
        if problems:
            raise _failure(problems)
        return checked

    def check_prompt(self, prompt: str, values: Mapping[str, Any]) -> None:
        """Check the length of the prompt that belongs to checked values.

        Raises ValidationFailed.
        """
        bounds = self.schema.get("x-prompt", {})
        if not prompt and _has_any(values, bounds.get("optional", {})):
            return
        if _has_any(values, bounds.get("unused", {})):
            raise ValidationFailed.of("prompt", "It is not used with these values: leave it out.")
        least, most = bounds.get("minLength", 0), bounds.get("maxLength")
        if len(prompt) < least:
            raise ValidationFailed.of("prompt", f"Give at least {_characters(least)}.")
        if most is not None and len(prompt.encode("utf-16-le")) > 2 * most:
            raise ValidationFailed.of("prompt", f"Give at most {_characters(most)}.")

    @property
    def _priced_by(self) -> tuple[str, ...]:
        return tuple(self.schema.get("x-priced-by", ()))

    @cached_property
    def _validator(self) -> jsonschema_rs.Draft202012Validator:
        formats = {"upload": _is_id, "job": _is_id}
        return jsonschema_rs.Draft202012Validator(
            dict(self.schema), formats=formats, validate_formats=True, offline=True
        )

    def _misfits(self, values: Mapping[str, Any]) -> Iterator[Problem]:
        """What is wrong with these values. The schema is asked only about values of the right
        types."""
        wrong = [
            (loc, expected(field))
            for name, value in values.items()
            for loc, field in _wrong_types((name,), value, self.fields[name])
        ]
        if wrong:
            yield from wrong
            return
        for error in self._validator.iter_errors(dict(values)):
            loc = tuple(error.instance_path)
            if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
                loc = (*loc, error.kind.property)
            yield loc, rule_text(self.schema, error.schema_path) or expected(self._field(loc))

    def _field(self, loc: Loc) -> Mapping[str, Any]:
        name, *inner = loc
        field = self.fields[str(name)]
        items: Mapping[str, Any] = field.get("items", field) if inner else field
        return items


def with_results(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a model, whose fields for uploads take results of jobs as well."""
    fields = schema.get("properties", {})
    taking = {name: _with_result(field) for name, field in fields.items()}
    return {**schema, "properties": taking} if fields else dict(schema)


def _with_result(field: Mapping[str, Any]) -> Mapping[str, Any]:
    if "items" in field:
        return {**field, "items": _with_result(field["items"])}
    return {**field, **_PICTURE} if field.get("format") == "upload" else field


def _wrong_types(
    loc: Loc, value: Any, field: Mapping[str, Any]
) -> Iterator[tuple[Loc, Mapping[str, Any]]]:
    """Each place whose value is of another type than its field, a list that is too long, or an
    object with a field that nobody knows."""
    types = field["type"] if isinstance(field["type"], list) else [field["type"]]
    is_fitting = type(value) in [_TYPES[each] for each in types]
    if not is_fitting or (isinstance(value, list) and len(value) > field["maxItems"]):
        yield loc, field
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _wrong_types((*loc, index), item, field["items"])
    elif isinstance(value, dict):
        for name, inner in value.items():
            known = field["properties"].get(name)
            if known is None or any(_wrong_types((), inner, known)):
                yield (*loc, name) if known else loc, field


def _has_any(values: Mapping[str, Any], options: Mapping[str, list[Any]]) -> bool:
    """Does a field have one of the values that `options` lists for it?"""
    return any(values.get(name) in listed for name, listed in options.items())


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count:,} characters"


def _failure(problems: Mapping[Loc, str]) -> ValidationFailed:
    errors = [{"loc": list(loc), "msg": text} for loc, text in problems.items()]
    loc, text = next(iter(problems.items()))
    return ValidationFailed(f"{'.'.join(map(str, loc))}: {text}", errors=errors)
