"""Were files read for the symbols in the digest? The release before does not fill the column."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0001_initial")]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField("checkout", "has_symbols", models.BooleanField(db_default=False)),
    ]
