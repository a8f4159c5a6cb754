"""Serializer fields for the ends of calls."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.providers.types import FinishReason

# No call of `/api` has tools.
_REASONS = [reason for reason in get_args(FinishReason) if reason != "tool_calls"]


@extend_schema_serializer(component_name="CallError")
class ErrorSerializer(serializers.Serializer[Any]):
    """Why there is no answer: `code` is what a program branches on, `message` says what to do, and
    `provider_message` is what the provider said where it refused. Some codes have further fields,
    such as the `needed_usd` of a call that could not be paid."""

    code = serializers.CharField()
    message = serializers.CharField()
    provider_message = serializers.CharField(required=False)


@extend_schema_field(ErrorSerializer(allow_null=True))
class ErrorField(serializers.JSONField):
    """The error of a call, as `error_of` returns it."""


class FinishReasonField(serializers.ChoiceField):
    """Why the model stopped: it had finished, its answer had reached the allowed length, or a
    filter stopped it. Null without a finished answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__(_REASONS, read_only=True, allow_null=True, **options)

    def to_representation(self, value: str) -> Any:
        return value or None
