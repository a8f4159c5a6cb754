"""Serializer fields for the names of models."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Modality
from common.fields import TextField

_KINDS: Mapping[Modality, str] = MappingProxyType(
    {
        "chat": "a chat model",
        "embedding": "an embedding model",
        "image": "an image model",
        "speech": "a speech model",
        "video": "a video model",
        "3d": "a 3D model",
    }
)


class _ModelField(TextField):
    """The name of a model of one kind, or a legacy alias; its value is the model's id."""

    modality: ClassVar[Modality]

    def to_internal_value(self, data: Any) -> str:
        model = get_catalog().find(super().to_internal_value(data))
        if model is None:
            raise serializers.ValidationError("There is no such model.")
        if model.modality != self.modality:
            raise serializers.ValidationError(f"{model.id} is not {_KINDS[self.modality]}.")
        return model.id


@extend_schema_field({"type": "string", "description": "A chat model of `GET /v1/models`."})
class ChatModelField(_ModelField):
    modality = "chat"


@extend_schema_field({"type": "string", "description": "A speech model of your entitlements."})
class SpeechModelField(_ModelField):
    modality = "speech"


@extend_schema_field({"type": "string", "description": "An image model of `GET /api/models`."})
class ImageModelField(_ModelField):
    modality = "image"


@extend_schema_field({"type": "string", "description": "A video model of `GET /api/models`."})
class VideoModelField(_ModelField):
    modality = "video"


@extend_schema_field({"type": "string", "description": "A 3D model of `GET /api/models`."})
class AssetModelField(_ModelField):
    modality = "3d"
