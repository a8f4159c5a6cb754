"""Bodies of `/api/keys`."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import ApiKey
from common.fields import TextField, UsdField
from common.money import usd


class KeyChangesSerializer(serializers.Serializer[Any]):
    """What a key is made of. The cap is judged by the service, to the cent."""

    name = TextField(max_length=100)
    monthly_spend_cap_usd = serializers.JSONField(required=False, allow_null=True)
    allowed_models = serializers.ListField(child=TextField(max_length=100), required=False)


class ApiKeySerializer(serializers.ModelSerializer[ApiKey]):
    """A key as its owner sees it. Context: `spent`, nano-USD billed this month by key id."""

    monthly_spend_cap_usd = UsdField(source="monthly_spend_cap")
    spent_this_month_usd = serializers.SerializerMethodField()

    class Meta:
        model = ApiKey
        fields = [
            "id",
            "name",
            "hint",
            "monthly_spend_cap_usd",
            "allowed_models",
            "spent_this_month_usd",
            "created_at",
            "last_used_at",
            "revoked_at",
        ]
        read_only_fields = fields

    def get_spent_this_month_usd(self, key: ApiKey) -> float:
        spent: dict[UUID, int] = self.context["spent"]
        return usd(spent.get(key.pk, 0))
