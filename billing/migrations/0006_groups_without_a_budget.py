"""Groups of calls without a bound, whose budget may be set later."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0005_undelivered_answers"),
    ]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="chargegroup",
            name="budget",
            field=models.BigIntegerField(null=True),
        ),
    ]
