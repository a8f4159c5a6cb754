"""What a key can do beyond text. The release before does not fill the column."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_append_only_audit_log")]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField(
            "apikey",
            "features",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=32),
                blank=True,
                db_default=models.Value([]),
                default=list,
                size=None,
            ),
        ),
    ]
