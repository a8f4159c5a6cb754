"""Serializer fields shared by the `/api` serializers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.money import usd


class TextField(serializers.CharField):
    """Text that must be sent as text: DRF's own CharField also takes numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "number", "description": "US dollars."})
class UsdField(serializers.Field[int, int, float, Any]):
    """An amount kept in nano-USD, shown as a JSON number of USD. Read only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

    def to_representation(self, value: int) -> float:
        return usd(value)
