import django.db.models.deletion
from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Calls write the ledger and give up after 3 s of waiting: nothing here may lock it."""

    atomic = False

    dependencies = [
        ("billing", "0009_seconds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Refund",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("plan_part", models.BigIntegerField()),
                ("balance_part", models.BigIntegerField()),
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
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("balance_part__gte", 0), ("plan_part__gte", 0)),
                            models.Q(("balance_part", 0), ("plan_part", 0), _negated=True),
                        ),
                        name="refund_of_something",
                    ),
                ],
            },
        ),
        migrations.AlterField(
            model_name="ledgerentry",
            name="kind",
            field=models.CharField(
                choices=[
                    ("topup", "Topup"),
                    ("charge", "Charge"),
                    ("adjust", "Adjust"),
                    ("refund", "Refund"),
                ],
                max_length=8,
            ),
        ),
        AddIndexConcurrently(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind__in", ["topup", "adjust", "refund"])),
                fields=["account", "kind", "-seq"],
                name="ledger_without_charges",
            ),
        ),
        RemoveIndexConcurrently(model_name="ledgerentry", name="ledger_by_kind"),
    ]
