"""What a call used and cost, in the answers of those who make calls."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from billing.selectors.charges import ChargeUsage
from common.fields import UsdField


@extend_schema_serializer(component_name="CallUsage")
class UsageSerializer(serializers.Serializer[ChargeUsage]):
    """What a call used. `cost_usd` is its cost at the listed rate; `plan_usd` and `balance_usd` are
    what was paid for it."""

    input_tokens = serializers.IntegerField(read_only=True)
    output_tokens = serializers.IntegerField(read_only=True)
    reasoning_tokens = serializers.IntegerField(read_only=True)
    cached_tokens = serializers.IntegerField(read_only=True)
    total_tokens = serializers.IntegerField(read_only=True)
    cost_usd = UsdField(source="cost")
    plan_usd = UsdField(source="plan")
    balance_usd = UsdField(source="balance")
