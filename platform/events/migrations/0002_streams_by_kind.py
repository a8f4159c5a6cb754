"""Streams of one kind, for those who delete what nobody follows any more."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Replies write to streams all the time: nobody waits for the index.
    atomic = False

    dependencies = [("events", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="stream",
            index=models.Index(fields=["kind", "id"], name="stream_by_kind"),
        ),
    ]
