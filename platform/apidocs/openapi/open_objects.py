"""How objects appear in the documents that may have more fields than their serializers name."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction

from ai.catalog.param_union import order_fields


class OpenObjectExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The object is described by its serializer's fields, and may have others."""

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(  # type: ignore[no-untyped-call]
            self.target, direction, bypass_extensions=True
        )
        return schema | {"additionalProperties": True}


class OrderExtension(OpenObjectExtension):  # type: ignore[no-untyped-call]
    """The body of a studio's order: with the parameters of all models of its kind. A field that no
    model has is ignored, so any may be there."""

    target_class = "studios.request_serializers.OrderSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema = super().map_serializer(auto_schema, direction)
        fields = order_fields(self.target.fields["model"].modality)
        return schema | {"properties": {**schema["properties"], **fields}}


class CallErrorExtension(OpenObjectExtension):  # type: ignore[no-untyped-call]
    """Why a call has failed: with the figures that belong to the code."""

    target_class = "ai.inference.fields.ErrorSerializer"
