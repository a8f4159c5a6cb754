"""The examples of the OpenAPI document: one for each body, answer and parameter.

An answer is made of its schema and the samples of its fields (`fields`, `special`), so that a new
field has one or fails a test. Request bodies, streams and files are written out (`bodies`). Each
stands in the document once, among its components, and operations refer to it.
"""

from typing import Any

from config.examples.bodies import FILES, OWN, REQUESTS, STREAM
from config.examples.fields import DATES, FIELDS, NULL
from config.examples.identity import OWN_IDS
from config.examples.parameters import PARAMETERS, PATHS
from config.examples.special import SPECIAL
from config.examples.story import AT, ID, Like

Schema = dict[str, Any]

_UNIONS = ("allOf", "oneOf", "anyOf")


class Examples:
    """Adds the examples to a document whose schemas are complete."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._paths = document["paths"]
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._examples: dict[str, Any] = document["components"].setdefault("examples", {})

    def add(self) -> None:
        """Raises LookupError for what has no sample."""
        for path, operations in self._paths.items():
            for operation in operations.values():
                for parameter in operation.get("parameters", []):
                    parameter["example"] = _parameter(path, operation, parameter)
                self._add_to_bodies(operation)

    def _add_to_bodies(self, operation: dict[str, Any]) -> None:
        for content in operation.get("requestBody", {}).get("content", {}).values():
            component = content["schema"]["$ref"].rpartition("/")[-1]
            if component not in REQUESTS:
                raise LookupError(f"{component} has no example in config/examples/bodies.py.")
            content["examples"] = self._refer(component, REQUESTS[component])
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                for media_type, content in response.get("content", {}).items():
                    name, schema = operation["operationId"], content["schema"]
                    content["examples"] = self._of_answer(name, media_type, schema)

    def _of_answer(self, operation: str, media_type: str, schema: Schema) -> dict[str, Any]:
        if media_type == "text/event-stream" and schema.get("type") == "string":
            return self._refer("ReplyStream", STREAM)
        if media_type != "application/json" and schema.get("type") == "string":
            text = FILES.get(f"{operation} {media_type}", FILES.get(media_type))
            return {"example": {"value": text}}
        if operation in OWN:
            return self._refer(operation, OWN[operation])
        is_list = schema.get("type") == "array"
        reference = schema["items"] if is_list else schema
        name = next(iter(reference.get("oneOf", [reference])))["$ref"].rpartition("/")[-1]
        return self._refer(f"{name}List" if is_list else name, self._value(schema, "", ""))

    def _refer(self, name: str, value: Any) -> dict[str, Any]:
        self._examples[name] = {"value": self._written(value)}
        return {"example": {"$ref": f"#/components/examples/{name}"}}

    def _value(self, schema: Schema, owner: str, field: str) -> Any:
        """The example of a field of the component `owner`."""
        if (special := f"{owner}.{field}") in SPECIAL:
            return self._written(SPECIAL[special])
        if field in NULL and _may_be_null(schema):
            return None
        for each in (schema[union][0] for union in _UNIONS if union in schema):
            if "$ref" in each or field not in FIELDS:
                return self._value(each, owner, field)
        if "$ref" in schema:
            return self._component(schema["$ref"].rpartition("/")[-1], owner, field)
        if schema.get("type") == "array" and "$ref" in schema["items"]:
            return [self._value(schema["items"], owner, field)]
        return _plain(schema, owner, field)

    def _written(self, sample: Any) -> Any:
        """What is written out, with what is like something else in it."""
        if isinstance(sample, Like):
            return self._component(sample.component, "", "") | self._written(sample.changes)
        if isinstance(sample, list):
            return [self._written(each) for each in sample]
        if isinstance(sample, dict):
            return {key: self._written(each) for key, each in sample.items()}
        return sample

    def _component(self, name: str, owner: str, field: str) -> Any:
        schema = self._schemas[name]
        if "properties" not in schema:
            return self._value(schema, owner, field)
        shown = {*schema.get("required", ())} | {
            key for key in schema["properties"] if f"{name}.{key}" in SPECIAL
        }
        return {
            key: self._value(each, name, key)
            for key, each in schema["properties"].items()
            if key in shown
        }


def _plain(schema: Schema, owner: str, field: str) -> Any:
    """The example of a value that is no object and no list of objects."""
    if field == "id" and owner in OWN_IDS:
        return ID[OWN_IDS[owner]]
    if field.removesuffix("_id") in ID and field.endswith("_id"):
        return ID[field.removesuffix("_id")]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("format") == "date-time" or field.endswith("_at"):
        return DATES.get(field, AT)
    if schema.get("type") == "boolean":
        return FIELDS.get(field, False)
    if field in FIELDS:
        return FIELDS[field]
    if _may_be_null(schema):
        return None
    raise LookupError(f"{owner}.{field} has no sample in config/examples/fields.py.")


def _may_be_null(schema: Schema) -> bool:
    kinds = [schema, *(each for union in _UNIONS for each in schema.get(union, []))]
    return any("null" in each.get("type", ()) for each in kinds)


def _parameter(path: str, operation: dict[str, Any], parameter: dict[str, Any]) -> Any:
    """The example of a parameter: by operation, by the beginning of the path, or by its name."""
    name, schema = parameter["name"], parameter["schema"]
    if (own := f"{operation['operationId']}.{name}") in PARAMETERS:
        return PARAMETERS[own]
    for prefix, parameters in PATHS.items():
        if path.startswith(prefix) and name in parameters:
            return ID[parameters[name]]
    if name in PARAMETERS:
        return PARAMETERS[name]
    return _plain(schema, operation["operationId"], name)
