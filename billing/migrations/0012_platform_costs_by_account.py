from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """For what the platform has spent today on an account. Calls write this table: nothing here may
    lock it."""

    atomic = False

    dependencies = [
        ("billing", "0011_failures"),
        # Whose columns the money functions read.
        ("accounts", "0010_mailboxes"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("funding", "platform")),
                fields=["account", "admitted_at"],
                name="charge_by_platform_for",
            ),
        ),
    ]
