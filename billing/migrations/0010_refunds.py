import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0009_seconds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Calls wait for this, 3 s at most: rather be told to repeat it.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
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
    ]
