"""The span that has queued a job. The release before does not fill the column."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField(
            "job", "traceparent", models.CharField(blank=True, db_default="", max_length=55)
        ),
    ]
