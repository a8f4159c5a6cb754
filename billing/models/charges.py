"""Calls, from their hold to their report."""

from django.db import models
from django.db.models import F, Q

from accounts.models import ApiKey, User
from ai.catalog.models import AIModel, PriceVersion
from billing.models.constraints import not_negative
from billing.models.plans import Plan
from billing.models.references import Reference
from billing.units import Unit
from common.ids import uuid7


def quantity_of(unit: Unit) -> property:
    """How much of that unit a charge has used; 0 where its `units` do not name it.

    No column, not even a generated one: PostgreSQL parses the expression of a generated column in
    each statement that writes to the table.
    """
    return property(lambda charge: charge.units.get(unit, 0))


class Charge(models.Model):
    """One call to a provider: its hold while it runs, its usage row when it has ended.

    held -> settled | released | expired, resolved at most once. `worst_cost`, `cost` and
    `charge_plan` are at cost (1x); `hold_balance`, `charge_balance` and `shortfall` are what the
    balance pays (2x of the part that the plan does not cover). `allowance_left` is what the plan
    could pay when the call ended, null where it had no allowance of the model. `failure` says why a
    call failed.

    `owner_id` is the process that makes the call, or the job that will make it: the charge lapses
    with the lease of the owner, or at its deadline.

    The table is partitioned by the months of the ids (`billing/services/months.py`).
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
        API = "api", "API"
        WEB = "web"
        JOB = "job"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = Reference(User)
    api_key = Reference(ApiKey, null=True)
    model = Reference(AIModel)
    plan = Reference(Plan)
    price_version = Reference(PriceVersion)
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
    # A ChargeGroup.
    group_id = models.UUIDField(null=True)

    first_output_at = models.DateTimeField(null=True)
    # A billing.units.Units.
    units = models.JSONField(db_default={})
    cost = models.BigIntegerField(db_default=0)
    charge_plan = models.BigIntegerField(db_default=0)
    charge_balance = models.BigIntegerField(db_default=0)
    shortfall = models.BigIntegerField(db_default=0)
    allowance_left = models.BigIntegerField(null=True)
    # A billing.types.Failure; NULL while the call runs and where it ended well.
    failure = models.JSONField(null=True)
    # The transaction that resolved it: by the time of a commit `reconcile` could miss one.
    resolved_tx = models.BigIntegerField(null=True)

    tokens_in = quantity_of("tokens_in")
    tokens_out = quantity_of("tokens_out")
    cached_tokens = quantity_of("cached_tokens")
    reasoning_tokens = quantity_of("reasoning_tokens")
    images = quantity_of("images")
    seconds = quantity_of("seconds")
    assets = quantity_of("assets")

    class Meta:
        indexes = [
            # No hash index: callers choose the value, and every call would search all the equal
            # ones.
            models.Index(fields=["request_id", "-id"], name="charge_by_request"),
            models.Index(fields=["account"], condition=Q(status="held"), name="charge_open"),
            # The ids are UUIDv7: the newest first.
            models.Index(fields=["account", "-id"], name="charge_newest_first"),
            # For what was resolved since `reconcile` last passed.
            models.Index(
                fields=["resolved_tx"], condition=~Q(status="held"), name="charge_resolved"
            ),
            # For error rates over time.
            models.Index(
                fields=["admitted_at"],
                condition=Q(status__in=["released", "expired"]),
                name="charge_failed",
            ),
            # For the platform's costs of the day.
            models.Index(
                fields=["admitted_at"],
                condition=Q(funding="platform"),
                name="charge_by_platform",
            ),
            # For the platform's costs of the day by account.
            models.Index(
                fields=["account", "admitted_at"],
                condition=Q(funding="platform"),
                name="charge_by_platform_for",
            ),
        ]
        constraints = [
            not_negative(
                "charge_not_negative", "hold_plan", "hold_balance", "charge_plan", "charge_balance"
            ),
            # True as well where there is no cap: a comparison with NULL lets a row pass.
            models.CheckConstraint(
                condition=Q(key_committed_before__lt=F("cap_at_hold")),
                name="admitted_under_its_cap",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class UsageDaily(models.Model):
    """The rollup that reports read: one row per account, key (None: web app), model and UTC day."""

    account = models.ForeignKey(
        User, on_delete=models.CASCADE, db_index=False, related_name="usage_days"
    )
    api_key = Reference(ApiKey, null=True)
    model = Reference(AIModel)
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
    """The idempotency key that a client sent with a request.

    It counts while its charge is held, and for 24 hours after the charge is settled; `answer` then
    keeps the call's result. `charge_id` is the id of the result: of a charge, of a top-up's ledger
    entry, of a council's turn; a plan change has a random one. `route` is the path of the request,
    `digest` the SHA-256 of its parameters.
    """

    pk = models.CompositePrimaryKey("account_id", "route", "key")
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    route = models.CharField(max_length=200)
    key = models.CharField(max_length=255)
    digest = models.BinaryField()
    charge_id = models.UUIDField()
    created_at = models.DateTimeField(db_index=True)
    answer = models.BinaryField(null=True)

    class Meta:
        # For operators, who are given a key and do not know whose it is.
        indexes = [models.Index(fields=["key"], name="idempotency_key_by_name")]
