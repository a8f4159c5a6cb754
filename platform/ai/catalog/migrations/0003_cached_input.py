"""The price of cached input. The release before does not fill the column: its prices have none."""

import django.core.validators
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_prices_never_change")]

    operations = [
        # The hold of a call reads this table, and calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField(
            "priceversion",
            "cached_input",
            models.BigIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MaxValueValidator(10_000_000_000)],
            ),
        ),
        AddConstraintNotValid(
            "priceversion",
            models.CheckConstraint(
                condition=models.Q(cached_input__isnull=True)
                | models.Q(
                    cached_input__gte=0, cached_input__lte=models.F("input"), input__isnull=False
                ),
                name="cached_input_is_no_dearer_than_input",
                violation_error_message="Cached input cannot cost more than other input, and only "
                "tokens have such a price.",
            ),
        ),
    ]
