from django.db import migrations, models

from common.indexes import AddIndexRepeatably


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
        AddIndexRepeatably(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("funding", "platform")),
                fields=["account", "admitted_at"],
                name="charge_by_platform_for",
            ),
        ),
    ]
