"""What the estimates of `/api/council` answer."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.errors import error_of
from ai.inference.fields import ErrorField
from common.fields import UsdField
from council.types import CallEstimate, Estimate


class CallEstimateSerializer(serializers.Serializer[CallEstimate]):
    """A call that would be made; `card_id` is null for a card that is not there yet, `round` where
    it is not of a debate. `refusal` says why it could not be made now."""

    card_id = serializers.UUIDField(read_only=True, allow_null=True)
    round = serializers.IntegerField(read_only=True, allow_null=True)
    model = serializers.CharField(read_only=True)
    expected_usd = UsdField(source="expected")
    at_most_usd = UsdField(source="at_most")
    refusal = serializers.SerializerMethodField()

    @extend_schema_field(ErrorField)
    def get_refusal(self, call: CallEstimate) -> dict[str, Any] | None:
        return error_of(call.refusal) if call.refusal else None


@extend_schema_serializer(component_name="CouncilEstimate")
class EstimateSerializer(serializers.Serializer[Estimate]):
    """What an action would cost, from plan and balance: as its input is and an answer usually is,
    and at most. Calls that could not be made are not in the sums."""

    calls = CallEstimateSerializer(many=True, read_only=True)
    expected_usd = UsdField(source="expected")
    at_most_usd = UsdField(source="at_most")
    available_usd = UsdField(source="available")
