"""How the bodies of the studios' orders appear in the OpenAPI document: with the parameters of all
models of their kind, which are no fields of the serializers."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction

from catalog.param_union import order_fields


class OrderExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Adds the parameters. A field that no model has is ignored, so any may be there."""

    target_class = "studios.inputs.OrderSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(  # type: ignore[no-untyped-call]
            self.target, direction, bypass_extensions=True
        )
        fields = order_fields(self.target.fields["model"].modality)
        properties = {**schema["properties"], **fields}
        return schema | {"properties": properties, "additionalProperties": True}
