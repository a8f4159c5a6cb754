"""The usage and cost of calls: in the answers of the endpoints that make them, and as a list."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from billing.models import Charge
from billing.selectors.charges import ChargeUsage
from common.fields import UsdField


@extend_schema_serializer(component_name="CallUsage")
class UsageSerializer(serializers.Serializer[ChargeUsage]):
    """What a call used. `listed_usd` is its cost at the listed rate; `paid_by_plan_usd` and
    `paid_by_balance_usd` are what was paid for it."""

    input_tokens = serializers.IntegerField(read_only=True)
    output_tokens = serializers.IntegerField(read_only=True)
    reasoning_tokens = serializers.IntegerField(read_only=True)
    cached_tokens = serializers.IntegerField(
        read_only=True, help_text="Of the input, those that the provider has read from its cache."
    )
    total_tokens = serializers.IntegerField(read_only=True)
    listed_usd = UsdField(source="cost")
    paid_by_plan_usd = UsdField(source="plan")
    paid_by_balance_usd = UsdField(source="balance")


class UsageRecordSerializer(serializers.Serializer[Any]):
    """A call. `listed_usd` is its cost at the listed rate; `paid_by_plan_usd` and
    `paid_by_balance_usd` are what was paid for it. A held call still runs, and shows its usage so
    far."""

    id = serializers.UUIDField(read_only=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]
        Charge.Source.choices, read_only=True
    )
    model = serializers.CharField(source="model_id", read_only=True)
    status = serializers.ChoiceField(Charge.Status.choices, read_only=True)
    input_tokens = serializers.IntegerField(source="tokens_in", read_only=True)
    cached_tokens = serializers.IntegerField(
        read_only=True, help_text="Of the input, those that the provider has read from its cache."
    )
    output_tokens = serializers.IntegerField(source="tokens_out", read_only=True)
    images = serializers.IntegerField(read_only=True)
    seconds = serializers.IntegerField(read_only=True, help_text="Of audio or video.")
    assets = serializers.IntegerField(read_only=True, help_text="3D assets.")
    listed_usd = UsdField(source="cost")
    paid_by_plan_usd = UsdField(source="charge_plan")
    paid_by_balance_usd = UsdField(source="charge_balance")
    created_at = serializers.DateTimeField(source="admitted_at", read_only=True)


class UsageFilterSerializer(serializers.Serializer[Any]):
    """`from` and `to`: UTC days, both included."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # `from` is a keyword of Python and cannot be an attribute.
        return {name: serializers.DateField(required=False) for name in ("from", "to")}

    def validate(self, filters: dict[str, Any]) -> dict[str, Any]:
        if "from" in filters and "to" in filters and filters["from"] > filters["to"]:
            raise serializers.ValidationError({"to": "The last day is before the first."})
        return filters
