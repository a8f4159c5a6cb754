"""Serializer fields that say how a call has ended."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from providers.types import FinishReason


@extend_schema_field(
    {
        "type": ["object", "null"],
        "description": "Why there is no answer: `code` is what a program branches on, `message` "
        "says what to do, and `provider_message` is what the provider said where it refused.",
        "properties": {
            **{name: {"type": "string"} for name in ("code", "message", "provider_message")}
        },
        "required": ["code", "message"],
    }
)
class ErrorField(serializers.JSONField):
    """The error of a call, as `error_of` makes it."""


class FinishReasonField(serializers.ChoiceField):
    """Why the model stopped: it was done, its answer had become as long as it may, or somebody's
    filter cut it off. Null of what has no finished answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(get_args(FinishReason), read_only=True, allow_null=True, **options)

    def to_representation(self, value: str) -> Any:
        return value or None
