"""Failed calls keep their reason, and charges are found by their request at any age."""

from django.contrib.postgres.indexes import HashIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Calls write this table and give up after 3 s of waiting: the index must not lock it."""

    atomic = False

    dependencies = [
        ("billing", "0010_refunds"),
    ]

    operations = [
        migrations.AddField(
            model_name="charge",
            name="failure",
            field=models.JSONField(null=True),
        ),
        AddIndexConcurrently(
            model_name="charge",
            index=HashIndex(fields=["request_id"], name="charge_by_request"),
        ),
    ]
