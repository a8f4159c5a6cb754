from django.db import migrations, models

from common.indexes import AddIndexRepeatably


class Migration(migrations.Migration):
    """For what the platform has spent today. Calls write this table: nothing here may lock it."""

    atomic = False

    dependencies = [("billing", "0007_named_requests_of_any_path")]

    operations = [
        AddIndexRepeatably(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("funding", "platform")),
                fields=["admitted_at"],
                name="charge_by_platform",
            ),
        ),
    ]
