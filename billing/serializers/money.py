"""Bodies of `/api/billing`."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from billing.models import LedgerEntry
from billing.selectors.billing_snapshot import BillingSnapshot, ModelAllowance
from billing.selectors.plans import FreeTier, Grant, PlanOffer
from billing.selectors.subscriptions import CurrentSubscription
from billing.types import Funds
from common.fields import CentsField, TextField, UsdField

MIN_TOPUP_USD, MAX_TOPUP_USD = 1, 10_000


class FeaturesField(serializers.DictField):
    """Which features a plan has, by name."""

    child = serializers.BooleanField()


@extend_schema_serializer(component_name="PlanGrant")
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
    """The period is the UTC month, by which allowances are granted; it ends where the next one
    starts."""

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
    """The plan's allowance of the model this month, at cost."""

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


class TransactionSerializer(serializers.Serializer[Any]):
    """A movement of the balance, and the balance after it. `charge_id` is the call that was billed,
    or refunded. `allowance_usd` is what the plan's allowance got back of a refund, which is no part
    of `amount_usd`; null where nothing was refunded."""

    id = serializers.UUIDField(read_only=True)
    kind = serializers.ChoiceField(LedgerEntry.Kind.choices, read_only=True)
    amount_usd = UsdField(source="delta")
    balance_after_usd = UsdField(source="balance_after")
    # A top-up is answered without it.
    allowance_usd = UsdField(source="to_allowance", allow_null=True, default=None)
    description = serializers.CharField(read_only=True)
    charge_id = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(read_only=True)

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
    """The amount of a top-up."""

    def __init__(self) -> None:
        super().__init__(least=MIN_TOPUP_USD, most=MAX_TOPUP_USD)


@extend_schema_serializer(component_name="TopUp")
class TopupSerializer(serializers.Serializer[Any]):
    amount_usd = TopupField()


@extend_schema_serializer(component_name="PlanChange")
class UpgradeSerializer(serializers.Serializer[Any]):
    plan = TextField()
