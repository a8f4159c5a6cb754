import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.lookups
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("catalog", "0001_initial"),
        ("leases", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("key", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64)),
                ("price", models.BigIntegerField(null=True)),
                ("api_access", models.BooleanField(default=False)),
                ("features", models.JSONField(blank=True, default=dict)),
                ("rank", models.PositiveSmallIntegerField(unique=True)),
            ],
            options={
                "ordering": ["rank"],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "route",
                        "key",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("route", models.CharField(max_length=200)),
                ("key", models.CharField(max_length=255)),
                ("digest", models.BinaryField()),
                ("charge_id", models.UUIDField()),
                ("created_at", models.DateTimeField(db_index=True)),
                ("answer", models.BinaryField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Charge",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[("api", "API"), ("web", "Web"), ("job", "Job")], max_length=8
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                (
                    "funding",
                    models.CharField(
                        choices=[("customer", "Customer"), ("platform", "Platform")], max_length=8
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("held", "Held"),
                            ("settled", "Settled"),
                            ("released", "Released"),
                            ("expired", "Expired"),
                        ],
                        max_length=8,
                    ),
                ),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("owner_id", models.UUIDField()),
                ("month", models.DateField()),
                ("admitted_at", models.DateTimeField()),
                ("deadline_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(null=True)),
                ("worst_cost", models.BigIntegerField()),
                ("hold_plan", models.BigIntegerField()),
                ("hold_balance", models.BigIntegerField()),
                ("cap_at_hold", models.BigIntegerField(null=True)),
                ("key_committed_before", models.BigIntegerField(null=True)),
                ("free_window_start", models.DateTimeField(null=True)),
                ("group_id", models.UUIDField(null=True)),
                ("first_output_at", models.DateTimeField(null=True)),
                ("units", models.JSONField(db_default={})),
                ("cost", models.BigIntegerField(db_default=0)),
                ("charge_plan", models.BigIntegerField(db_default=0)),
                ("charge_balance", models.BigIntegerField(db_default=0)),
                ("shortfall", models.BigIntegerField(db_default=0)),
                ("allowance_left", models.BigIntegerField(null=True)),
                ("failure", models.JSONField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "api_key",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
                (
                    "price_version",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="catalog.priceversion",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="billing.plan",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PlanAllowance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("granted", models.BigIntegerField()),
                (
                    "model",
                    models.ForeignKey(
                        limit_choices_to=models.Q(("modality__in", ("chat", "image"))),
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="allowances",
                        to="billing.plan",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Refund",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("plan_part", models.BigIntegerField()),
                ("balance_part", models.BigIntegerField()),
                ("to_allowance", models.BigIntegerField()),
                ("allowance_left", models.BigIntegerField(null=True)),
                ("reason", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "charge",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="billing.charge",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="subscription",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "Active")], db_default="active", max_length=16
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="subscriptions",
                        to="billing.plan",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UsageDaily",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("requests", models.BigIntegerField(db_default=0)),
                ("tokens_in", models.BigIntegerField(db_default=0)),
                ("tokens_out", models.BigIntegerField(db_default=0)),
                ("billed", models.BigIntegerField(db_default=0)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="usage_days",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "api_key",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "usage by day",
            },
        ),
        migrations.CreateModel(
            name="Wallet",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="wallet",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("balance", models.BigIntegerField(db_default=0)),
                ("held", models.BigIntegerField(db_default=0)),
                ("seq", models.BigIntegerField(db_default=0)),
                ("open_charges", models.IntegerField(db_default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("held__gte", 0), ("held__lte", models.F("balance"))),
                        name="wallet_covers_what_is_held",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Allowance",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "model_id",
                        "month",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("month", models.DateField()),
                ("granted", models.BigIntegerField()),
                ("used", models.BigIntegerField(db_default=0)),
                ("held", models.BigIntegerField(db_default=0)),
                ("downgraded", models.BooleanField(db_default=False)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="allowances",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.GreaterThanOrEqual(
                                django.db.models.functions.comparison.Least(
                                    "granted", "used", "held"
                                ),
                                0,
                            )
                        ),
                        name="allowance_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ContractAllowance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("granted", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contract_allowances",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        limit_choices_to=models.Q(("modality__in", ("chat", "image"))),
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "model"), name="one_contract_per_account_model"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("granted__gte", 0)), name="contract_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FreeWindow",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "account_id",
                        "model_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("window_start", models.DateTimeField()),
                ("used", models.SmallIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="free_windows",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("used__gte", 0), ("used__lte", 10)),
                        name="free_window_is_ten_messages",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KeyMonth",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "api_key_id",
                        "month",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("month", models.DateField()),
                ("billed", models.BigIntegerField(db_default=0)),
                ("held", models.BigIntegerField(db_default=0)),
                ("requests", models.BigIntegerField(db_default=0)),
                (
                    "api_key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="months",
                        to="accounts.apikey",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.GreaterThanOrEqual(
                                django.db.models.functions.comparison.Least("billed", "held"), 0
                            )
                        ),
                        name="key_month_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ChargeGroup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("budget", models.BigIntegerField()),
                ("billed", models.BigIntegerField(db_default=0)),
                ("held", models.BigIntegerField(db_default=0)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="charge_groups",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            django.db.models.lookups.GreaterThanOrEqual(
                                django.db.models.functions.comparison.Least(
                                    "budget", "billed", "held"
                                ),
                                0,
                            )
                        ),
                        name="charge_group_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerEntry",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("seq", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("topup", "Topup"),
                            ("charge", "Charge"),
                            ("adjust", "Adjust"),
                            ("refund", "Refund"),
                        ],
                        max_length=8,
                    ),
                ),
                ("delta", models.BigIntegerField()),
                ("balance_after", models.BigIntegerField()),
                ("description", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ledger",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "ledger entries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("kind", "topup")),
                        fields=["created_at"],
                        name="ledger_paid_in",
                    ),
                    models.Index(
                        condition=models.Q(("kind__in", ["topup", "adjust", "refund"])),
                        fields=["account", "kind", "-seq"],
                        name="ledger_without_charges",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "seq"), name="ledger_chain"),
                    models.CheckConstraint(
                        condition=models.Q(("balance_after__gte", 0)),
                        name="ledger_balance_not_negative",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(fields=["request_id", "-id"], name="charge_by_request"),
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("status", "held")), fields=["account"], name="charge_open"
            ),
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(fields=["account", "-id"], name="charge_newest_first"),
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("status__in", ["released", "expired"])),
                fields=["admitted_at"],
                name="charge_failed",
            ),
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("funding", "platform")),
                fields=["admitted_at"],
                name="charge_by_platform",
            ),
        ),
        migrations.AddIndex(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("funding", "platform")),
                fields=["account", "admitted_at"],
                name="charge_by_platform_for",
            ),
        ),
        migrations.AddConstraint(
            model_name="charge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    django.db.models.lookups.GreaterThanOrEqual(
                        django.db.models.functions.comparison.Least(
                            "hold_plan", "hold_balance", "charge_plan", "charge_balance"
                        ),
                        0,
                    )
                ),
                name="charge_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="charge",
            constraint=models.CheckConstraint(
                condition=models.Q(("key_committed_before__lt", models.F("cap_at_hold"))),
                name="admitted_under_its_cap",
            ),
        ),
        migrations.AddConstraint(
            model_name="planallowance",
            constraint=models.UniqueConstraint(
                fields=("plan", "model"), name="one_allowance_per_plan_model"
            ),
        ),
        migrations.AddConstraint(
            model_name="planallowance",
            constraint=models.CheckConstraint(
                condition=models.Q(("granted__gte", 0)), name="plan_allowance_not_negative"
            ),
        ),
        migrations.AddIndex(
            model_name="idempotencykey",
            index=models.Index(fields=["key"], name="idempotency_key_by_name"),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("balance_part__gte", 0), ("plan_part__gte", 0)),
                    models.Q(("balance_part", 0), ("plan_part", 0), _negated=True),
                ),
                name="refund_of_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("to_allowance", 0),
                    ("to_allowance", models.F("plan_part")),
                    _connector="OR",
                ),
                name="refund_to_one_of_both",
            ),
        ),
        migrations.AddIndex(
            model_name="usagedaily",
            index=models.Index(fields=["day"], name="usage_by_day"),
        ),
        migrations.AddConstraint(
            model_name="usagedaily",
            constraint=models.UniqueConstraint(
                fields=("account", "day", "api_key", "model"),
                name="usage_day_key_model",
                nulls_distinct=False,
            ),
        ),
    ]
