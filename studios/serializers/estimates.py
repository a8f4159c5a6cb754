"""What the estimates of the studios answer."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ai.inference.errors import error_of
from ai.inference.fields import ErrorField
from common.fields import UsdField
from studios.types import Estimate


@extend_schema_serializer(component_name="JobEstimate")
class EstimateSerializer(serializers.Serializer[Estimate]):
    """What a job would cost, from plan and balance: `expected_usd` and `at_most_usd`, which is held
    while it waits and runs. `refusal` says why it could not be ordered now."""

    model = serializers.CharField(read_only=True)
    params = serializers.DictField(read_only=True)
    expected_usd = UsdField(source="expected")
    at_most_usd = UsdField(source="at_most")
    available_usd = UsdField(source="available")
    refusal = serializers.SerializerMethodField()

    @extend_schema_field(ErrorField)
    def get_refusal(self, estimate: Estimate) -> dict[str, Any] | None:
        return error_of(estimate.refusal) if estimate.refusal else None
