from django.db import migrations, models

from common.indexes import AddIndexRepeatably


class Migration(migrations.Migration):
    """Charges are found by their request at any age. It takes the place of a hash index of the same
    name, where there is one. Calls write this table: nothing here may lock it."""

    atomic = False

    dependencies = [("billing", "0013_ledger_without_charges")]

    operations = [
        AddIndexRepeatably(
            model_name="charge",
            index=models.Index(fields=["request_id", "-id"], name="charge_by_request"),
        ),
    ]
