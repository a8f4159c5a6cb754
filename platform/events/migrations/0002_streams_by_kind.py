"""Streams of one kind, for those who delete what nobody follows any more."""

from django.db import migrations, models

from common.indexes import AddIndexRepeatably


class Migration(migrations.Migration):
    # Replies write to streams all the time: nobody waits for the index.
    atomic = False

    dependencies = [("events", "0001_initial")]

    operations = [
        AddIndexRepeatably(
            model_name="stream",
            index=models.Index(fields=["kind", "id"], name="stream_by_kind"),
        ),
    ]
