"""Reads bodies and queries by their serializers."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


def read(serializer: type[serializers.Serializer[Any]], data: Mapping[str, Any]) -> dict[str, Any]:
    """The validated values of a body or a query. Raises DRF's ValidationError."""
    asked = serializer(data=data)
    asked.is_valid(raise_exception=True)
    values: dict[str, Any] = asked.validated_data
    return values
