"""The examples of the OpenAPI document: one for each body, answer and parameter.

An answer is made of its schema (`values`). Most request bodies, streams and files are written out
(`bodies`). Each stands in the document once, among its components, and operations refer to it.
"""

from typing import Any

from apidocs.examples.bodies import FILES, OWN, REQUESTS, STREAM
from apidocs.examples.parameters import PARAMETERS, PATHS
from apidocs.examples.story import ID, Like
from apidocs.examples.values import Schema, Values, plain


class Examples:
    """Adds the examples to a document whose schemas are complete."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._paths = document["paths"]
        self._values = Values(document["components"]["schemas"])
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
            body = REQUESTS.get(component, Like(component))
            content["examples"] = self._refer(component, body)
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
        return self._refer(f"{name}List" if is_list else name, self._values.of(schema))

    def _refer(self, name: str, value: Any) -> dict[str, Any]:
        self._examples[name] = {"value": self._values.written(value)}
        return {"example": {"$ref": f"#/components/examples/{name}"}}


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
    return plain(schema, operation["operationId"], name)
