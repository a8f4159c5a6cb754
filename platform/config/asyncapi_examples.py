"""Examples of what a schema describes, made of the schema: names and formats say what fits."""

from collections.abc import Mapping
from typing import Any

ID = "019a9c3e-7c1d-7b52-9f0e-4d1a2b3c4d5e"
TIME = "2026-11-21T17:05:39.000000Z"

_QUESTION = "Why is the sea blue?"
_ANSWER = "Water absorbs red light first, so that blue is left."
_COMMIT = "4f1c9d2e8b7a6053c1d2e3f405162738495a6b7c"
_REPOSITORY = "https://github.com/alice/sea"
# What is shown in a field of that name.
_BY_NAME: Mapping[str, Any] = {
    **dict.fromkeys(("title", "prompt", "content"), _QUESTION),
    **dict.fromkeys(("text", "summary", "output"), _ANSWER),
    **dict.fromkeys(("model", "models", "requested_model", "used_model"), "gpt-6-luna"),
    **dict.fromkeys(("planner_model", "from_model"), "gpt-6-luna"),
    **dict.fromkeys(("reviewer_model", "to_model"), "claude-opus-5"),
    **dict.fromkeys(("path", "paths", "writes"), "docs/sea.md"),
    **dict.fromkeys(("branch", "default_branch"), "main"),
    **dict.fromkeys(("commit", "commit_sha"), _COMMIT),
    **dict.fromkeys(("url", "commit_url", "pull_request_url"), _REPOSITORY),
    **dict.fromkeys(("width", "height"), 1024),
    **dict.fromkeys(("input_tokens", "cached_tokens"), 12),
    **dict.fromkeys(("key", "subtasks"), "colours"),
    "instructions": "Explain it to a child.",
    "final_instructions": "Make one text of them.",
    "acceptance": "It names the colour that is absorbed.",
    "point": "It names the colour that is absorbed.",
    "issues": "Name the colour.",
    "issue": "",
    "depends_on": "light",
    "reads": "README.md",
    "thumbnail_url": "https://example.com/files/sea-small.webp",
    "name": "Alice",
    "login": "alice",
    "email": "alice@example.com",
    "mime": "text/markdown",
    "media_type": "image/png",
    "scopes": "repo",
    "message": "Describe the colours of the sea",
    "label": "A",
    "role": "user",
    "target": "branch",
    "activity": "Writes 2 parts.",
    "kind": "markdown",
    "system": "",
    "focus": "The physics",
    "output_tokens": 34,
    "reasoning_tokens": 0,
    "total_tokens": 46,
    "size": 48213,
    "bytes": 1042,
    "progress": 50,
}
_BY_FORMAT = {"uuid": ID, "date-time": TIME, "uri": "https://example.com/files/sea.png"}
# What is null until something has failed or has ended, or where there is none as a rule.
_NULL = {
    *("error", "pause_reason", "finish_reason", "verdict", "ended_at", "completed_at"),
    *("activity", "restored_from", "parent_job_id", "connector_id", "base_url", "queue_position"),
    *("avatar_url", "hold_usd", "seconds", "total_seconds", "reason", "provider_message"),
}


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "") -> Any:
    """An example of a schema, for a field of that name. `schemas` are those that it refers to."""
    if "$ref" in schema:
        *_, component = schema["$ref"].split("/")
        return example_of(schemas[component], schemas, name)
    if alternatives := schema.get("oneOf"):
        chosen = alternatives[-1 if name in _NULL else 0]  # null comes last
        return example_of(chosen, schemas, name)
    if parts := schema.get("allOf"):
        return merged(*(example_of(part, schemas, name) for part in parts))
    return _of_type(schema, schemas, name)


def merged(whole: Any, *others: Any) -> Any:
    """Each over the one before: objects field by field."""
    for other in others:
        if isinstance(whole, dict) and isinstance(other, Mapping):
            whole = whole | {
                name: merged(whole[name], value) if name in whole else value
                for name, value in other.items()
            }
        else:
            whole = other
    return whole


def _of_type(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str) -> Any:
    types = schema.get("type", "object")
    types = [types] if isinstance(types, str) else types
    if types == ["null"] or ("null" in types and name in _NULL):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    if types[0] == "object":
        fields = schema.get("properties", {})
        return {key: example_of(value, schemas, key) for key, value in fields.items()}
    if types[0] == "array":
        return [example_of(schema["items"], schemas, name)]
    return _scalar(types[0], schema.get("format"), name)


def _scalar(kind: str, form: str | None, name: str) -> str | bool | int | float:
    usual: dict[str, str | bool | int | float] = {
        "string": _BY_FORMAT.get(form or "", "gpt-6-luna"),
        "boolean": False,
        "integer": 1,
        "number": 0.0042,
    }
    fits = form not in _BY_FORMAT and name in _BY_NAME
    value: str | bool | int | float = _BY_NAME[name] if fits else usual[kind]
    return value
