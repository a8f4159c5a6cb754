"""Serializer fields that name models."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.selectors import get_catalog
from common.fields import TextField


@extend_schema_field({"type": "string", "description": "A chat model of `GET /v1/models`."})
class ChatModelField(TextField):
    """The name of a chat model, or a legacy alias; the id of the model inside."""

    def to_internal_value(self, data: Any) -> str:
        model = get_catalog().find(super().to_internal_value(data))
        if model is None:
            raise serializers.ValidationError("There is no such model.")
        if model.modality != "chat":
            raise serializers.ValidationError(f"{model.id} is not a chat model.")
        return model.id
