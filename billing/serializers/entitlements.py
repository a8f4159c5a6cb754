"""What a user may use."""

from rest_framework import serializers

from billing.selectors.entitlements import Entitlements, FreeMessages, ModelEntitlement
from billing.serializers.money import FeaturesField
from common.fields import UsdField


class FreeMessagesSerializer(serializers.Serializer[FreeMessages]):
    limit = serializers.IntegerField(read_only=True)
    window_hours = serializers.IntegerField(read_only=True)
    used = serializers.IntegerField(read_only=True)
    reset_at = serializers.DateTimeField(read_only=True, allow_null=True)


class ModelEntitlementSerializer(serializers.Serializer[ModelEntitlement]):
    """`free`: the free messages, on the free plan. `callable`: would a message, a transcription or
    a job of a studio be admitted now?"""

    model = serializers.CharField(read_only=True)
    display_name = serializers.CharField(read_only=True)
    modality = serializers.ChoiceField(["chat", "image", "video", "3d", "speech"], read_only=True)
    included_in_plan = serializers.BooleanField(read_only=True)
    allowance_usd = UsdField(source="allowance.granted")
    used_usd = UsdField(source="allowance.used")
    remaining_usd = UsdField(source="allowance.remaining")
    resets_at = serializers.DateTimeField(read_only=True, allow_null=True)
    free = FreeMessagesSerializer(read_only=True, allow_null=True)
    callable = serializers.BooleanField(read_only=True)


class EntitlementsSerializer(serializers.Serializer[Entitlements]):
    plan = serializers.CharField(read_only=True)
    balance_usd = UsdField(source="funds.balance")
    features = FeaturesField(read_only=True)
    verify_email = serializers.BooleanField(
        read_only=True, help_text="Free messages are refused until the e-mail address is verified."
    )
    models = ModelEntitlementSerializer(many=True, read_only=True)
