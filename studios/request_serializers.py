"""The bodies and queries of the studios."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from ai.catalog.fields import AssetModelField, ImageModelField, VideoModelField
from common.fields import FlagField, PromptField, TextField, WholeNumberField
from studios.types import MAX_PROMPT, MAX_QUERY, Kind, Status

# Fields that are none of a model's parameters.
OWN_FIELDS = frozenset({"model", "prompt"})


class OrderSerializer(serializers.Serializer[Any]):
    """An order of any kind; `config.openapi.orders` adds the parameters to its description."""

    prompt = PromptField(max_length=MAX_PROMPT, required=False, allow_blank=True, default="")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """All fields but the model and the prompt are parameters, which the model's schema
        checks."""
        values: dict[str, Any] = super().to_internal_value(data)
        params = {name: value for name, value in data.items() if name not in OWN_FIELDS}
        return {**values, "values": params}


class ImageOrderSerializer(OrderSerializer):
    """Besides `model` and `prompt`, the parameters that the model has in its `params`: `n`, `size`,
    `quality`, and others. One that it does not have is refused."""

    model = ImageModelField()


class VideoOrderSerializer(OrderSerializer):
    """Besides `model` and `prompt`, the parameters that the model has in its `params`: `seconds`,
    `aspect_ratio`, `resolution`, and others. One that it does not have is refused."""

    model = VideoModelField()


class AssetOrderSerializer(OrderSerializer):
    """Besides `model` and `prompt`, the parameters that the model has in its `params`: `image`,
    `texture`, and others. One that it does not have is refused. With a picture, the prompt may be
    left out."""

    model = AssetModelField()


@extend_schema_serializer(component_name="VideoExtension")
class ExtensionSerializer(serializers.Serializer[Any]):
    """Without a prompt, that of the clip counts. `seconds` is one of those in the `x-extend` of the
    model's `params`, by default the first. Everything else is as the clip has it: parameters of an
    order are refused."""

    prompt = PromptField(max_length=MAX_PROMPT, required=False, allow_blank=True, default="")
    seconds = WholeNumberField(required=False, allow_null=True, default=None)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """`others` are the names of the other fields of the body."""
        values: dict[str, Any] = super().to_internal_value(data)
        return {**values, "others": [name for name in data if name not in self.fields]}


@extend_schema_serializer(component_name="StarInput")
class StarSerializer(serializers.Serializer[Any]):
    """`starred: false` takes the star away. `output` is the number of one of the results; without
    it, the job is starred."""

    starred = FlagField(default=True)
    output = WholeNumberField(required=False, min_value=0, max_value=99)


class DeletionQuerySerializer(serializers.Serializer[Any]):
    """How a job is deleted."""

    confirm = serializers.BooleanField(
        default=False,
        help_text="true: delete a job also at its provider, which may finish and bill it.",
    )


class JobsQuerySerializer(serializers.Serializer[Any]):
    """The filters of a list of jobs."""

    q = TextField(
        max_length=MAX_QUERY,
        required=False,
        allow_blank=True,
        help_text="What the prompt has in it, in capitals or not.",
    )
    status = serializers.ChoiceField([status.value for status in Status], required=False)
    model = TextField(max_length=100, required=False)
    starred = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="true: those with a star of their own or of a result; false: those with neither.",
    )


class AssetsQuerySerializer(JobsQuerySerializer):
    """The filters of the list of 3D assets."""

    stage = TextField(
        max_length=20,
        required=False,
        help_text="The parameter `stage` of the order: `preview` for 3D previews.",
    )


class AllJobsQuerySerializer(AssetsQuerySerializer):
    """The filters of the list of all jobs."""

    kind = serializers.ChoiceField([kind.value for kind in Kind], required=False)
