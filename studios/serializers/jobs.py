"""Generation jobs as the studios answer with them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.fields import ErrorSerializer
from common.fields import UsdField
from studios.selectors.jobs import JobView, OutputView
from studios.types import Kind, Status

# A job that failed for one of these reasons fails again, unless something is changed.
_LASTING = frozenset({"content_blocked", "invalid_body", "input_too_long", "validation_failed"})


@extend_schema_serializer(component_name="JobOutput")
class OutputSerializer(serializers.Serializer[OutputView]):
    """A result. `output` is its number in the job, from 0: a star and another order name it so.
    `url` and `thumbnail_url` work for a day without credentials; they are null where the file is
    not kept any more. `size` is in bytes. `seed` is what it can be repeated with, null where the
    order named none and the provider tells none, or one that no order takes."""

    output = serializers.IntegerField(read_only=True)
    url = serializers.URLField(read_only=True, allow_null=True)
    thumbnail_url = serializers.URLField(read_only=True, allow_null=True)
    media_type = serializers.CharField(read_only=True, allow_null=True)
    size = serializers.IntegerField(read_only=True, allow_null=True)
    width = serializers.IntegerField(read_only=True, allow_null=True)
    height = serializers.IntegerField(read_only=True, allow_null=True)
    seconds = serializers.FloatField(read_only=True, allow_null=True)
    seed = serializers.IntegerField(read_only=True, allow_null=True)
    starred = serializers.BooleanField(read_only=True)


@extend_schema_serializer(component_name="JobError")
class JobErrorSerializer(ErrorSerializer):
    """Why a job has failed; `retryable` says whether the same order can succeed."""

    retryable = serializers.BooleanField()


class _StatusSerializer(serializers.Serializer[JobView]):
    id = serializers.UUIDField(source="generation.pk", read_only=True)
    status = serializers.ChoiceField(Status.choices, source="generation.status", read_only=True)
    progress = serializers.IntegerField(
        source="generation.progress",
        read_only=True,
        allow_null=True,
        help_text="In percent; null where the provider tells none.",
    )
    queue_position = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="How many jobs are before it; null once it runs."
    )
    error = serializers.SerializerMethodField()

    @extend_schema_field(JobErrorSerializer(allow_null=True))
    def get_error(self, view: JobView) -> dict[str, Any] | None:
        error: dict[str, Any] | None = view.generation.error
        return error and {**error, "retryable": error["code"] not in _LASTING}


@extend_schema_serializer(component_name="JobStatus")
class StatusSerializer(_StatusSerializer):
    """How far a job has come."""


@extend_schema_serializer(component_name="Job")
class JobSerializer(_StatusSerializer):
    """A generation job. `hold_usd` is held until it ends, and null then; `cost_usd` is what was
    billed, null until then. `refunded`: the hold was given back, and nothing was billed.
    `total_seconds` is the length of a clip with what it extends."""

    kind = serializers.ChoiceField(Kind.choices, source="generation.kind", read_only=True)
    model = serializers.CharField(source="generation.model", read_only=True)
    prompt = serializers.CharField(source="generation.prompt", read_only=True)
    params = serializers.DictField(source="generation.params", read_only=True)
    outputs = OutputSerializer(many=True, read_only=True)
    thumbnail_url = serializers.SerializerMethodField()
    total_seconds = serializers.FloatField(
        source="generation.seconds", read_only=True, allow_null=True
    )
    cost_usd = UsdField(source="billed", allow_null=True)
    hold_usd = UsdField(source="held", allow_null=True)
    refunded = serializers.BooleanField(source="is_refunded", read_only=True)
    starred = serializers.BooleanField(source="generation.starred", read_only=True)
    can_extend = serializers.BooleanField(
        read_only=True, help_text="Can a clip go on, with `POST /api/videos/{job_id}/extend`?"
    )
    parent_job_id = serializers.UUIDField(
        source="generation.parent_id", read_only=True, allow_null=True
    )
    created_at = serializers.DateTimeField(source="generation.created_at", read_only=True)
    started_at = serializers.DateTimeField(
        source="generation.started_at", read_only=True, allow_null=True
    )
    completed_at = serializers.DateTimeField(
        source="generation.ended_at", read_only=True, allow_null=True
    )

    def get_thumbnail_url(self, view: JobView) -> str | None:
        return next((each.thumbnail_url for each in view.outputs), None)
