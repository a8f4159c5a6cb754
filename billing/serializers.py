"""Bodies of `/api/billing`, and of usage and entitlements under `/api/users/me`."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from billing.models import Charge, LedgerEntry
from billing.selectors.billing_snapshot import BillingSnapshot, Funds, ModelAllowance
from billing.selectors.entitlements import Entitlements, FreeMessages, ModelEntitlement
from billing.selectors.plans import FreeTier, Grant, PlanOffer
from billing.selectors.subscriptions import CurrentSubscription
from common.fields import CentsField, TextField, UsdField

MIN_TOPUP_USD, MAX_TOPUP_USD = 1, 10_000


class FeaturesField(serializers.DictField):
    """Which features a plan has, by name."""

    child = serializers.BooleanField()


class GrantSerializer(serializers.Serializer[Grant]):
    model = serializers.CharField(read_only=True)
    granted_usd = UsdField(source="granted")


class FreeTierSerializer(serializers.Serializer[FreeTier]):
    models = serializers.ListField(child=serializers.CharField(), read_only=True)
    limit = serializers.IntegerField(read_only=True)
    window_hours = serializers.IntegerField(read_only=True)


class PlanSerializer(serializers.Serializer[PlanOffer]):
    """A plan on offer. A price of null is agreed by contract."""

    key = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)
    price_usd = UsdField(source="price", allow_null=True)
    api_access = serializers.BooleanField(read_only=True)
    features = FeaturesField(read_only=True)
    allowances = GrantSerializer(many=True, read_only=True)
    free_messages = FreeTierSerializer(read_only=True, allow_null=True)


class SubscriptionSerializer(serializers.Serializer[CurrentSubscription]):
    """The period is the UTC month, by which allowances are granted; its end is the next one's
    start."""

    plan = serializers.CharField(read_only=True)
    status = serializers.CharField(read_only=True)
    current_period_start = serializers.DateTimeField(read_only=True)
    current_period_end = serializers.DateTimeField(read_only=True)


class BalanceSerializer(serializers.Serializer[Funds]):
    balance_usd = UsdField(source="balance")
    held_usd = UsdField(source="held")
    available_usd = UsdField(source="available")
    currency = serializers.CharField(default="USD", read_only=True)


class AllowanceSerializer(serializers.Serializer[ModelAllowance]):
    """What the plan pays of one model this month, at cost."""

    model = serializers.CharField(read_only=True)
    granted_usd = UsdField(source="granted")
    used_usd = UsdField(source="used")
    held_usd = UsdField(source="held")
    remaining_usd = UsdField(source="remaining")


@extend_schema_field({"type": "string", "pattern": r"^\d{4}-\d{2}$"})
class MonthField(serializers.DateField):
    """A month of the calendar, such as 2026-11. Read only."""

    def __init__(self) -> None:
        super().__init__(format="%Y-%m", read_only=True)


class WalletSerializer(serializers.Serializer[BillingSnapshot]):
    balance_usd = UsdField(source="funds.balance")
    held_usd = UsdField(source="funds.held")
    available_usd = UsdField(source="funds.available")
    month = MonthField()
    allowances = AllowanceSerializer(many=True, read_only=True)


class TransactionSerializer(serializers.ModelSerializer[LedgerEntry]):
    """A movement of the balance, and the balance after it. `charge_id` is the call that was
    billed, or refunded."""

    amount_usd = UsdField(source="delta")
    balance_after_usd = UsdField(source="balance_after")
    charge_id = serializers.SerializerMethodField()

    class Meta:
        model = LedgerEntry
        fields = [
            "id",
            "kind",
            "amount_usd",
            "balance_after_usd",
            "description",
            "charge_id",
            "created_at",
        ]
        read_only_fields = fields

    def get_charge_id(self, entry: LedgerEntry) -> UUID | None:
        if entry.kind == LedgerEntry.Kind.CHARGE:
            return entry.pk
        # A top-up is answered without it.
        return getattr(entry, "refunded_charge_id", None)


class TransactionFilterSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(LedgerEntry.Kind.choices, required=False)


@extend_schema_field(
    {
        "type": "number",
        "description": "US dollars, in whole cents.",
        "minimum": MIN_TOPUP_USD,
        "maximum": MAX_TOPUP_USD,
    }
)
class TopupField(CentsField):
    """What may be added to a balance at a time."""

    def __init__(self) -> None:
        super().__init__(least=MIN_TOPUP_USD, most=MAX_TOPUP_USD)


class TopupSerializer(serializers.Serializer[Any]):
    amount_usd = TopupField()


class UpgradeSerializer(serializers.Serializer[Any]):
    plan = TextField()


class UsageRecordSerializer(serializers.ModelSerializer[Charge]):
    """A call. `cost_usd` is its cost at the listed rate; `plan_usd` and `balance_usd` are what was
    paid for it. A call that is held still runs, and shows how far it has come."""

    model = serializers.CharField(source="model_id", read_only=True)
    input_tokens = serializers.IntegerField(source="tokens_in", read_only=True)
    output_tokens = serializers.IntegerField(source="tokens_out", read_only=True)
    cost_usd = UsdField(source="cost")
    plan_usd = UsdField(source="charge_plan")
    balance_usd = UsdField(source="charge_balance")
    created_at = serializers.DateTimeField(source="admitted_at", read_only=True)

    class Meta:
        model = Charge
        fields = [
            "id",
            "source",
            "model",
            "status",
            "input_tokens",
            "output_tokens",
            "images",
            "seconds",
            "cost_usd",
            "plan_usd",
            "balance_usd",
            "created_at",
        ]
        read_only_fields = fields


class UsageFilterSerializer(serializers.Serializer[Any]):
    """`from` and `to`: UTC days, both included."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # A word of Python's own cannot be written as an attribute.
        return {name: serializers.DateField(required=False) for name in ("from", "to")}

    def validate(self, filters: dict[str, Any]) -> dict[str, Any]:
        if "from" in filters and "to" in filters and filters["from"] > filters["to"]:
            raise serializers.ValidationError({"to": "The last day is before the first."})
        return filters


class FreeMessagesSerializer(serializers.Serializer[FreeMessages]):
    limit = serializers.IntegerField(read_only=True)
    window_hours = serializers.IntegerField(read_only=True)
    used = serializers.IntegerField(read_only=True)
    reset_at = serializers.DateTimeField(read_only=True, allow_null=True)


class ModelEntitlementSerializer(serializers.Serializer[ModelEntitlement]):
    """`free`: the messages that cost nothing, on the free plan. `callable`: could one be sent, a
    picture be made, or audio be transcribed, now?"""

    model = serializers.CharField(read_only=True)
    display_name = serializers.CharField(read_only=True)
    modality = serializers.ChoiceField(["chat", "image", "speech"], read_only=True)
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
