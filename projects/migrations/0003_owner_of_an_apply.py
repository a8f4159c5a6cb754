"""The process that carries out an apply. The release before does not fill the column."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0002_request_of_a_run")]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField("apply", "owner_id", models.UUIDField(null=True)),
    ]
