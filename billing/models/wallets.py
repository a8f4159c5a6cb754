"""An account's means of payment, and what was spent of them."""

from django.db import models
from django.db.models import F, Q

from accounts.models import ApiKey, User
from ai.catalog.models import AIModel
from billing.models.constraints import not_negative
from billing.models.references import Reference
from common.ids import uuid7


class Wallet(models.Model):
    """The prepaid balance, and the mutex of its account: every money verb locks this row first.

    `held` is what open charges may take at most; `seq` numbers the ledger; `open_charges` counts
    charges that are still held.
    """

    account = models.OneToOneField(
        User, primary_key=True, on_delete=models.CASCADE, related_name="wallet"
    )
    balance = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)
    seq = models.BigIntegerField(db_default=0)
    open_charges = models.IntegerField(db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(held__gte=0, held__lte=F("balance")),
                name="wallet_covers_what_is_held",
            ),
        ]

    def __str__(self) -> str:
        return f"Wallet of {self.account}"


class LedgerEntry(models.Model):
    """One movement of a balance, in a gapless chain per account. Append-only (by trigger).

    The id of a `charge` entry is the charge's id, and that of a `refund` the refund's. The id of a
    `topup` or `adjust` is its caller's, so that a repeated call finds it and moves nothing.
    """

    class Kind(models.TextChoices):
        TOPUP = "topup"
        CHARGE = "charge"
        ADJUST = "adjust"
        REFUND = "refund"

    id = models.UUIDField(primary_key=True)
    account = models.ForeignKey(
        User, on_delete=models.PROTECT, db_index=False, related_name="ledger"
    )
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    delta = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    description = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    # The transaction that moved it; of a `charge` entry it is that of the charge.
    tx = models.BigIntegerField(null=True)

    class Meta:
        verbose_name_plural = "ledger entries"
        indexes = [
            # For what moved since `reconcile` last passed.
            models.Index(
                fields=["tx"],
                condition=Q(kind__in=["topup", "adjust", "refund"]),
                name="ledger_moved",
            ),
            # For top-ups per day; charges are many, and the rollup sums them up.
            models.Index(fields=["created_at"], condition=Q(kind="topup"), name="ledger_paid_in"),
            # For the few entries of an account that are no charges.
            models.Index(
                fields=["account", "kind", "-seq"],
                condition=Q(kind__in=["topup", "adjust", "refund"]),
                name="ledger_without_charges",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["account", "seq"], name="ledger_chain"),
            models.CheckConstraint(
                condition=Q(balance_after__gte=0), name="ledger_balance_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} no. {self.seq}"


class Allowance(models.Model):
    """What one account may use of one model in one month from its plan, at cost.

    The row is created with the first use; there is no monthly reset. `downgraded`: a plan change
    lowered `granted`, perhaps below `used`.
    """

    pk = models.CompositePrimaryKey("account_id", "model_id", "month")
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="allowances")
    model = Reference(AIModel)
    month = models.DateField()
    granted = models.BigIntegerField()
    used = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)
    downgraded = models.BooleanField(db_default=False)

    class Meta:
        constraints = [
            not_negative("allowance_not_negative", "granted", "used", "held"),
        ]


class KeyMonth(models.Model):
    """The amounts that one API key has billed and holds in one month; its cap is compared with
    them."""

    pk = models.CompositePrimaryKey("api_key_id", "month")
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="months")
    month = models.DateField()
    billed = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)
    requests = models.BigIntegerField(db_default=0)

    class Meta:
        constraints = [
            not_negative("key_month_not_negative", "billed", "held"),
        ]


class ChargeGroup(models.Model):
    """Calls of an account that share a budget, such as those of one run or one session.

    `billed` and `held` count what plan and balance pay together, as a key's month does; with each
    new hold they are at most `budget`; None is no bound. Refunds do not give it back.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="charge_groups")
    budget = models.BigIntegerField(null=True)
    billed = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)

    class Meta:
        constraints = [
            not_negative("charge_group_not_negative", "budget", "billed", "held"),
        ]


class FreeWindow(models.Model):
    """The free plan's messages per model: a window of 4 hours anchored at its first message."""

    pk = models.CompositePrimaryKey("account_id", "model_id")
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="free_windows")
    model = Reference(AIModel)
    window_start = models.DateTimeField()
    used = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used__gte=0, used__lte=10), name="free_window_is_ten_messages"
            ),
        ]
