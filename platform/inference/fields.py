"""Serializer fields for the ends of calls."""

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
    """The error of a call, as `error_of` returns it."""


class FinishReasonField(serializers.ChoiceField):
    """Why the model stopped: it had finished, its answer had reached the allowed length, or a
    filter stopped it. Null without a finished answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(get_args(FinishReason), read_only=True, allow_null=True, **options)

    def to_representation(self, value: str) -> Any:
        return value or None
