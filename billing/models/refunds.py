"""Refunds of charges, made by operators."""

from django.db import models
from django.db.models import F, Q

from accounts.models import User
from ai.catalog.models import AIModel
from billing.models.charges import Charge
from billing.models.references import Reference


class Refund(models.Model):
    """A part of a charge, or all of it, given back: `balance_part` of what the balance paid, and
    `plan_part`, at cost, of what the plan paid. Append-only, like the ledger. `model` and `month`
    are those of the charge, whose row may be dropped. `tx` is the transaction that made it.

    `to_allowance` is what the allowance of the charge's month got back: `plan_part`, or nothing
    once that month is over. The balance got the rest, under the same id in the ledger.
    `allowance_left` is what the allowance had left before, null where it got nothing.
    """

    id = models.UUIDField(primary_key=True)
    account = models.ForeignKey(User, on_delete=models.PROTECT, db_index=False, related_name="+")
    charge = models.ForeignKey(
        Charge, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    model = Reference(AIModel)
    month = models.DateField()
    plan_part = models.BigIntegerField()
    balance_part = models.BigIntegerField()
    to_allowance = models.BigIntegerField()
    allowance_left = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    tx = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["tx"], name="refund_by_tx")]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    Q(plan_part__gte=0, balance_part__gte=0), ~Q(plan_part=0, balance_part=0)
                ),
                name="refund_of_something",
            ),
            models.CheckConstraint(
                condition=Q(to_allowance=0) | Q(to_allowance=F("plan_part")),
                name="refund_to_one_of_both",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def amount(self) -> int:
        """What was given back in all, in nano-USD."""
        return self.plan_part + self.balance_part

    @property
    def to_balance(self) -> int:
        """What the balance got."""
        return self.amount - self.to_allowance
