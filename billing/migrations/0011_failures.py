"""Failed calls keep their reason."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0010_refunds"),
    ]

    operations = [
        # Calls wait for this, 3 s at most: rather be told to repeat it.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="charge",
            name="failure",
            field=models.JSONField(null=True),
        ),
    ]
