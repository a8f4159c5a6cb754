"""Bodies of `/api/keys`."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from accounts.features import KEY_FEATURES
from accounts.models import ApiKey
from accounts.types import MAX_ALLOWED_MODELS
from common.fields import BoundedListField, TextField, TitleField, UsdField
from common.money import usd


@extend_schema_field({"type": "number", "description": "US dollars, in whole cents."})
class SpendCapField(serializers.JSONField):
    """A cap as it was sent; the service validates it, to the cent."""


@extend_schema_serializer(component_name="ApiKeyInput")
class KeyChangesSerializer(serializers.Serializer[Any]):
    """The fields of a key that may change."""

    name = TitleField(max_length=100)
    monthly_spend_cap_usd = SpendCapField(required=False, allow_null=True)
    allowed_models = BoundedListField(
        child=TextField(max_length=100), max_length=MAX_ALLOWED_MODELS, required=False
    )
    features = BoundedListField(
        child=serializers.ChoiceField(KEY_FEATURES), max_length=len(KEY_FEATURES), required=False
    )


class ApiKeySerializer(serializers.Serializer[ApiKey]):
    """A key as its owner sees it; `features` is there where it has some. Context: `spent`, nano-USD
    billed this month by key id."""

    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    hint = serializers.CharField(read_only=True)
    monthly_spend_cap_usd = UsdField(source="monthly_spend_cap", allow_null=True)
    allowed_models = serializers.ListField(
        child=serializers.CharField(max_length=100), read_only=True
    )
    features = serializers.ListField(child=serializers.ChoiceField(KEY_FEATURES), required=False)
    spent_this_month_usd = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(read_only=True)
    last_used_at = serializers.DateTimeField(read_only=True, allow_null=True)
    revoked_at = serializers.DateTimeField(read_only=True, allow_null=True)

    def to_representation(self, instance: ApiKey) -> dict[str, Any]:
        shown = super().to_representation(instance)
        if not instance.features:
            del shown["features"]
        return shown

    def get_spent_this_month_usd(self, key: ApiKey) -> float:
        spent: dict[UUID, int] = self.context["spent"]
        return usd(spent.get(key.pk, 0))


class NewApiKeySerializer(ApiKeySerializer):
    """A key at its creation, the only time that it is shown. Context: also `raw`."""

    key = serializers.SerializerMethodField()

    def get_key(self, key: ApiKey) -> str:
        raw: str = self.context["raw"]
        return raw
