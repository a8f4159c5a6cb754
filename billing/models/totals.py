"""What resolved charges add up to, and how far they were checked."""

from django.db import models

from accounts.models import ApiKey, User
from ai.catalog.models import AIModel
from billing.models.references import Reference


class ChargeTotal(models.Model):
    """The sum of an account's billed charges of one month, model and key (None: web app).

    `period` is the month of the charges' ids, by which the table of charges is partitioned; `month`
    the one in which they were admitted. Both are the same but for calls that begin as a month ends.
    The rows have the charges that the last passed `reconcile` has seen; those of a closed period
    are final, and stand for its charges when these are dropped.

    `charges` were billed, and `requests` of them count in usage reports; `plan` and `balance` are
    what was paid, in nano-USD. `largest` is the most that one of them billed; `least_cap` and
    `greatest_cap` are the caps of their key at their holds, -1 for none.
    """

    account = Reference(User)
    period = models.DateField()
    month = models.DateField()
    model = Reference(AIModel)
    api_key = Reference(ApiKey, null=True)
    charges = models.BigIntegerField()
    requests = models.BigIntegerField()
    tokens_in = models.BigIntegerField()
    tokens_out = models.BigIntegerField()
    plan = models.BigIntegerField()
    balance = models.BigIntegerField()
    largest = models.BigIntegerField()
    least_cap = models.BigIntegerField()
    greatest_cap = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "month", "period", "model", "api_key"],
                nulls_distinct=False,
                name="total_of_charges",
            ),
        ]
        indexes = [models.Index(fields=["period"], name="total_by_period")]

    def __str__(self) -> str:
        return f"{self.account_id} in {self.month}"


class GroupTotal(models.Model):
    """The sum of a group's billed charges of one period, as in `ChargeTotal`. `committed` counts of
    each charge at most what it held; in nano-USD."""

    pk = models.CompositePrimaryKey("group_id", "period")
    group_id = models.UUIDField()
    account = models.ForeignKey(
        User, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    period = models.DateField()
    billed = models.BigIntegerField()
    committed = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["period"], name="group_total_by_period")]


class ChargeMonth(models.Model):
    """A period of charges that is closed: no row of it changes any more. `charges` is the number of
    its rows. From `dropped_at` on they are gone, and its totals stand for them."""

    period = models.DateField(primary_key=True)
    charges = models.BigIntegerField()
    closed_at = models.DateTimeField()
    dropped_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["period"]

    def __str__(self) -> str:
        return f"{self.period:%Y-%m}"


class Watermark(models.Model):
    """How far `reconcile` has come: one row.

    `snapshot` is the `pg_snapshot` of the last pass that found nothing broken: the totals have
    exactly the charges whose `resolved_tx` it sees. `cluster` is the database cluster that counts
    the transactions (`pg_control_system`).
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    cluster = models.BigIntegerField()
    snapshot = models.TextField()
    passed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"passed at {self.passed_at}"
