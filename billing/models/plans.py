"""The plans that accounts subscribe to, and their monthly allowances."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from ai.catalog.models import AIModel

# Every other model belongs to no plan and no contract.
GRANTABLE = Q(modality__in=(AIModel.Modality.CHAT, AIModel.Modality.IMAGE))


class Plan(models.Model):
    """What an account subscribes to. `price` is nano-USD per month, None where it is agreed."""

    key = models.CharField(primary_key=True, max_length=32)
    name = models.CharField(max_length=64)
    price = models.BigIntegerField(null=True)
    api_access = models.BooleanField(default=False)
    features = models.JSONField(default=dict, blank=True)
    rank = models.PositiveSmallIntegerField(unique=True)

    class Meta:
        ordering = ["rank"]

    def __str__(self) -> str:
        return self.name


class PlanAllowance(models.Model):
    """How much of one model, at cost, a plan grants each month. No row: balance only."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="allowances")
    model = models.ForeignKey(
        AIModel, on_delete=models.CASCADE, limit_choices_to=GRANTABLE, related_name="+"
    )
    granted = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "model"], name="one_allowance_per_plan_model"),
            models.CheckConstraint(condition=Q(granted__gte=0), name="plan_allowance_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id}: {self.model_id}"


class ContractAllowance(models.Model):
    """How much of one model, at cost, a contract grants an account each month.

    It replaces the plan's allowance where the plan's price is agreed by contract.
    """

    account = models.ForeignKey(
        User, on_delete=models.CASCADE, db_index=False, related_name="contract_allowances"
    )
    model = models.ForeignKey(
        AIModel, on_delete=models.CASCADE, limit_choices_to=GRANTABLE, related_name="+"
    )
    granted = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "model"], name="one_contract_per_account_model"
            ),
            models.CheckConstraint(condition=Q(granted__gte=0), name="contract_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.account}: {self.model_id}"


class Subscription(models.Model):
    """The plan an account is on."""

    class Status(models.TextChoices):
        ACTIVE = "active"

    account = models.OneToOneField(
        User, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="subscriptions")
    status = models.CharField(max_length=16, choices=Status.choices, db_default=Status.ACTIVE)
    started_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"Subscription of {self.account}"
