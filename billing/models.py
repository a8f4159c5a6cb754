"""Plans and money. Every amount is BIGINT nano-USD; months are the first day of a UTC month.

Only the functions in `billing/sql/` write wallets, allowances, key months, charges, the ledger and
the rollup; each takes the account's wallet row first. The models are for reading, for the admin
and for migrations.

PostgreSQL reads a table's check constraints anew for every statement that writes it, so there are
few, for what must never be; `invariants.py` has the rest.
"""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Least, Now
from django.db.models.lookups import GreaterThanOrEqual

from accounts.models import ApiKey, User
from catalog.models import AIModel, PriceVersion
from common.ids import uuid7


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
    model = models.ForeignKey(AIModel, on_delete=models.CASCADE, related_name="+")
    granted = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "model"], name="one_allowance_per_plan_model"),
            models.CheckConstraint(condition=Q(granted__gte=0), name="plan_allowance_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.plan_id}: {self.model_id}"


class ContractAllowance(models.Model):
    """How much of one model, at cost, an account is granted each month by a contract of its own.

    Counts instead of the plan's where the plan's price is agreed by contract.
    """

    account = models.ForeignKey(
        User, on_delete=models.CASCADE, db_index=False, related_name="contract_allowances"
    )
    model = models.ForeignKey(AIModel, on_delete=models.CASCADE, related_name="+")
    granted = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "model"], name="one_contract_per_account_model"
            ),
            models.CheckConstraint(condition=Q(granted__gte=0), name="contract_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id}: {self.model_id}"


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


class Allowance(models.Model):
    """What one account may use of one model in one month from its plan, at cost.

    The row comes with the first use; there is no monthly reset. `downgraded` says that a plan
    change lowered `granted`, perhaps below what was used already.
    """

    pk = models.CompositePrimaryKey("account_id", "model_id", "month")
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="allowances")
    model = models.ForeignKey(
        AIModel, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    month = models.DateField()
    granted = models.BigIntegerField()
    used = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)
    downgraded = models.BooleanField(db_default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(GreaterThanOrEqual(Least("granted", "used", "held"), 0)),
                name="allowance_not_negative",
            ),
        ]


class KeyMonth(models.Model):
    """What one API key has billed (and holds) in one month: what its cap is compared with."""

    pk = models.CompositePrimaryKey("api_key_id", "month")
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="months")
    month = models.DateField()
    billed = models.BigIntegerField(db_default=0)
    held = models.BigIntegerField(db_default=0)
    requests = models.BigIntegerField(db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(GreaterThanOrEqual(Least("billed", "held"), 0)),
                name="key_month_not_negative",
            ),
        ]


class FreeWindow(models.Model):
    """The free plan's messages per model: a window of 4 hours anchored at its first message."""

    pk = models.CompositePrimaryKey("account_id", "model_id")
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="free_windows")
    model = models.ForeignKey(
        AIModel, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    window_start = models.DateTimeField()
    used = models.SmallIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used__gte=0, used__lte=10), name="free_window_is_ten_messages"
            ),
        ]


class Charge(models.Model):
    """One call to a provider: its hold while it runs, its usage row when it has ended.

    held -> settled | released | expired, resolved at most once. `worst_cost`, `cost` and
    `charge_plan` are at cost (1x); `hold_balance`, `charge_balance` and `shortfall` are what the
    balance pays (2x of the part that the plan does not cover).
    """

    class Status(models.TextChoices):
        HELD = "held"
        SETTLED = "settled"
        RELEASED = "released"
        EXPIRED = "expired"

    class Funding(models.TextChoices):
        CUSTOMER = "customer"
        PLATFORM = "platform"

    class Source(models.TextChoices):
        API = "api"
        WEB = "web"
        JOB = "job"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(
        User, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    api_key = models.ForeignKey(
        ApiKey,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    model = models.ForeignKey(
        AIModel, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    plan = models.ForeignKey(
        Plan, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    price_version = models.ForeignKey(
        PriceVersion,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    source = models.CharField(max_length=8, choices=Source.choices)
    kind = models.CharField(max_length=16)
    funding = models.CharField(max_length=8, choices=Funding.choices)
    status = models.CharField(max_length=8, choices=Status.choices)
    request_id = models.CharField(max_length=64, blank=True)
    owner_id = models.UUIDField()
    month = models.DateField()
    admitted_at = models.DateTimeField()
    deadline_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    worst_cost = models.BigIntegerField()
    hold_plan = models.BigIntegerField()
    hold_balance = models.BigIntegerField()
    cap_at_hold = models.BigIntegerField(null=True)
    key_committed_before = models.BigIntegerField(null=True)
    free_window_start = models.DateTimeField(null=True)

    first_output_at = models.DateTimeField(null=True)
    tokens_in = models.IntegerField(db_default=0)
    tokens_out = models.IntegerField(db_default=0)
    cached_tokens = models.IntegerField(db_default=0)
    reasoning_tokens = models.IntegerField(db_default=0)
    images = models.SmallIntegerField(db_default=0)
    cost = models.BigIntegerField(db_default=0)
    charge_plan = models.BigIntegerField(db_default=0)
    charge_balance = models.BigIntegerField(db_default=0)
    shortfall = models.BigIntegerField(db_default=0)

    class Meta:
        indexes = [
            models.Index(fields=["account"], condition=Q(status="held"), name="charge_open"),
            # The ids are UUIDv7: the newest first.
            models.Index(fields=["account", "-id"], name="charge_newest_first"),
            # For error rates over time.
            models.Index(
                fields=["admitted_at"],
                condition=Q(status__in=["released", "expired"]),
                name="charge_failed",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    GreaterThanOrEqual(
                        Least("hold_plan", "hold_balance", "charge_plan", "charge_balance"), 0
                    )
                ),
                name="charge_not_negative",
            ),
            # True as well where there is no cap: a comparison with NULL lets a row pass.
            models.CheckConstraint(
                condition=Q(key_committed_before__lt=F("cap_at_hold")),
                name="admitted_under_its_cap",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class LedgerEntry(models.Model):
    """One movement of a balance, in a gapless chain per account. Append-only (by trigger).

    The id of a `charge` entry is the charge's id; that of a `topup` or `adjust` is its caller's, so
    that a repeated call finds it and moves nothing.
    """

    class Kind(models.TextChoices):
        TOPUP = "topup"
        CHARGE = "charge"
        ADJUST = "adjust"

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

    class Meta:
        verbose_name_plural = "ledger entries"
        indexes = [
            # For what was paid in per day; charges, which are many, are summed up in the rollup.
            models.Index(fields=["created_at"], condition=Q(kind="topup"), name="ledger_paid_in"),
            # For the few movements of an account that are no charges, among many that are.
            models.Index(
                fields=["account", "kind", "-seq"],
                condition=Q(kind__in=["topup", "adjust"]),
                name="ledger_by_kind",
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


class UsageDaily(models.Model):
    """The rollup that reports read: one row per account, key (None: web app), model and UTC day."""

    account = models.ForeignKey(
        User, on_delete=models.CASCADE, db_index=False, related_name="usage_days"
    )
    api_key = models.ForeignKey(
        ApiKey,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    model = models.ForeignKey(
        AIModel, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    day = models.DateField()
    requests = models.BigIntegerField(db_default=0)
    tokens_in = models.BigIntegerField(db_default=0)
    tokens_out = models.BigIntegerField(db_default=0)
    billed = models.BigIntegerField(db_default=0)

    class Meta:
        verbose_name_plural = "usage by day"
        indexes = [models.Index(fields=["day"], name="usage_by_day")]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "day", "api_key", "model"],
                nulls_distinct=False,
                name="usage_day_key_model",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} on {self.day}"


class IdempotencyKey(models.Model):
    """What a client called a call that shall happen once, however often it is sent.

    It counts while its charge is held, and for 24 hours where that was settled: `answer` is then
    what the call brought. `digest` is the SHA-256 of what was asked.
    """

    pk = models.CompositePrimaryKey("account_id", "route", "key")
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    route = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    digest = models.BinaryField()
    charge_id = models.UUIDField()
    created_at = models.DateTimeField(db_index=True)
    answer = models.BinaryField(null=True)


class OwnerLease(models.Model):
    """One row per process that holds charges. Renewed every 10 s; lapsed, its charges expire.

    `doubted_at` is when a sweep first found it run out; a renewal clears it.
    """

    owner_id = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=16)
    lease_until = models.DateTimeField()
    doubted_at = models.DateTimeField(null=True)
