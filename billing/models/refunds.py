"""Refunds of charges, made by operators."""

from django.db import models
from django.db.models import Q

from accounts.models import User
from billing.models.charges import Charge


class Refund(models.Model):
    """A part of a charge, or all of it, given back to its source: `balance_part` to the balance,
    under the same id in the ledger, and `plan_part`, at cost, to the allowance of the charge's
    month. Append-only, like the ledger."""

    id = models.UUIDField(primary_key=True)
    account = models.ForeignKey(User, on_delete=models.PROTECT, db_index=False, related_name="+")
    charge = models.ForeignKey(
        Charge, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    plan_part = models.BigIntegerField()
    balance_part = models.BigIntegerField()
    reason = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    Q(plan_part__gte=0, balance_part__gte=0), ~Q(plan_part=0, balance_part=0)
                ),
                name="refund_of_something",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)
