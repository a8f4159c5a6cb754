"""Makes the examples of schemas, out of the samples of their fields (`fields`, `special`,
`streamed`), so that a new field has one or fails a test."""

from collections.abc import Mapping
from typing import Any

from apidocs.examples.fields import DATES, EVERYWHERE, FIELDS, NULL
from apidocs.examples.identity import shown_like, thing_of
from apidocs.examples.special import SPECIAL
from apidocs.examples.story import AT, ID, Like
from apidocs.examples.streamed import STREAMED

Schema = Mapping[str, Any]

_UNIONS = ("allOf", "oneOf", "anyOf")
_SPECIAL = {**SPECIAL, **STREAMED}
_FIELDS = {
    f"{component}.{field}": value
    for components, fields in FIELDS.items()
    for component in components.split()
    for field, value in fields.items()
}


class Values:
    """The examples of schemas that refer to these."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas

    def of(self, schema: Schema, owner: str = "", field: str = "") -> Any:
        """The example of a field of the component `owner`. Raises LookupError for what has no
        sample."""
        if special := _special(owner, field):
            return self.written(_SPECIAL[special])
        if field in NULL and _may_be_null(schema):
            return None
        for each in (schema[union][0] for union in _UNIONS if union in schema):
            if "$ref" in each or _sample(owner, field) is None:
                return self.of(each, owner, field)
        if "$ref" in schema:
            return self._referred(_name(schema), owner, field)
        if schema.get("type") == "array" and "$ref" in schema["items"]:
            return [self.of(schema["items"], owner, field)]
        return plain(schema, owner, field)

    def written(self, sample: Any) -> Any:
        """What is written out, with what is like something else in it."""
        if isinstance(sample, Like):
            return self._component(sample.component, sample.changes)
        if isinstance(sample, list):
            return [self.written(each) for each in sample]
        if isinstance(sample, dict):
            return {key: self.written(each) for key, each in sample.items()}
        return sample

    def _referred(self, name: str, owner: str, field: str) -> Any:
        schema = self._schemas[name]
        if "properties" in schema:
            return self._component(name, {})
        return self.of(schema, owner, field)

    def _component(self, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """An object, with the fields that it always has, those with a sample of their own, and
        those of `changes`."""
        fields = self._schemas[name].get("properties", {})
        if unknown := changes.keys() - fields.keys():
            raise LookupError(f"{name} has no {', '.join(sorted(unknown))}.")
        shown = {*self._schemas[name].get("required", ()), *changes}
        shown |= {field for field in fields if _special(name, field)}
        return {
            field: self._changed(schema, name, field, changes[field])
            if field in changes
            else self.of(schema, name, field)
            for field, schema in fields.items()
            if field in shown
        }

    def _changed(self, schema: Schema, owner: str, field: str, change: Any) -> Any:
        """A change of an object changes the fields that it names."""
        component = self._component_of(schema)
        if not isinstance(change, Mapping) or component is None:
            return self.written(change)
        special = _SPECIAL.get(_special(owner, field) or "")
        return self.written(Like(special if isinstance(special, Like) else component, **change))

    def _component_of(self, schema: Schema) -> str | None:
        """The name of the object that a field is."""
        kinds = [schema, *(schema[union][0] for union in _UNIONS if union in schema)]
        names = [_name(each) for each in kinds if "$ref" in each]
        objects = [name for name in names if "properties" in self._schemas[name]]
        return objects[0] if objects else None


def plain(schema: Schema, owner: str, field: str) -> Any:
    """The example of a value that is no object and no list of objects. Raises LookupError."""
    if (thing := _thing(owner, field)) in ID:
        return ID[thing]
    if "enum" in schema:
        usual = _sample(owner, field)
        return usual if usual in schema["enum"] else schema["enum"][0]
    if schema.get("format") == "date-time" or field.endswith("_at"):
        return DATES.get(field, AT)
    if (sample := _sample(owner, field)) is not None:
        return sample
    if schema.get("type") == "boolean":
        return False
    if schema.get("type") == "integer":
        return 1
    if _may_be_null(schema):
        return None
    raise LookupError(f"{owner}.{field} has no sample in apidocs/examples.")


def _sample(owner: str, field: str) -> Any:
    """The sample of a field of this component, or of one that shows the same; None where it has
    none."""
    return _FIELDS.get(f"{shown_like(owner)}.{field}", EVERYWHERE.get(field))


def _thing(owner: str, field: str) -> str:
    """Whose id this field is; "" for what is none."""
    if field == "id":
        return thing_of(owner)
    return field.removesuffix("_id") if field.endswith("_id") else ""


def _special(owner: str, field: str) -> str | None:
    """The name of the sample of this field of this component, or of one that shows the same."""
    names = (f"{name}.{field}" for name in (owner, shown_like(owner)))
    return next((name for name in names if name in _SPECIAL), None)


def _may_be_null(schema: Schema) -> bool:
    kinds = [schema, *(each for union in _UNIONS for each in schema.get(union, []))]
    return any("null" in each.get("type", ()) for each in kinds)


def _name(schema: Schema) -> str:
    name: str = schema["$ref"].rpartition("/")[-1]
    return name
