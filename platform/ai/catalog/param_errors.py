"""The sentences about values that do not fit a schema of `ai.catalog.params`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

MIXED_UP = "This model does not take it: leave it out, or choose another model."

_IDS = {
    "upload": "the id of an upload, or a result by its `job` and `output`",
    "job": "the id of a job",
}


def expected(field: Mapping[str, Any]) -> str:
    """What a field takes, as an instruction."""
    match field:
        case {"enum": [*options]}:
            return f"Give {_either(options)}."
        case {"type": "boolean"}:
            return "Give true or false."
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"Give a whole number from {least:,} to {most:,}."
        case {"type": "array", "maxItems": most}:
            return f"Give a list of at most {most}."
        case {"format": name}:
            return f"Give {_IDS[name]}."
        case {"maxLength": most}:
            return f"Give a text of at most {most:,} characters."
    raise ValueError(f"There is no sentence for the schema {field}.")


def rule_text(schema: Mapping[str, Any], path: Sequence[str | int]) -> str | None:
    """The description of the rule whose keyword stands at `path`; None where the keyword belongs
    to a field."""
    if path[0] != "allOf":
        return None
    text, here = None, schema
    for part in path:
        here = here[part]  # type: ignore[index]
        if isinstance(here, Mapping):
            text = here.get("description", text)
    return text


def _either(options: Sequence[str | int]) -> str:
    """The options as JSON, so that a text is told from a number."""
    *others, last = (json.dumps(option) for option in options)
    return f"{', '.join(others)} or {last}" if others else last
