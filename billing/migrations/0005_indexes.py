from django.db import migrations, models

from common.indexes import AddIndexRepeatably, RemoveIndexRepeatably


class Migration(migrations.Migration):
    """Calls write these tables and give up after 3 s of waiting: nothing here may lock them."""

    atomic = False

    dependencies = [("billing", "0004_contracts")]

    operations = [
        AddIndexRepeatably(
            model_name="charge",
            index=models.Index(fields=["account", "-id"], name="charge_newest_first"),
        ),
        RemoveIndexRepeatably(model_name="charge", name="charge_by_account"),
        AddIndexRepeatably(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("status__in", ["released", "expired"])),
                fields=["admitted_at"],
                name="charge_failed",
            ),
        ),
        AddIndexRepeatably(
            model_name="usagedaily",
            index=models.Index(fields=["day"], name="usage_by_day"),
        ),
        AddIndexRepeatably(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind", "topup")), fields=["created_at"], name="ledger_paid_in"
            ),
        ),
        AddIndexRepeatably(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind__in", ["topup", "adjust"])),
                fields=["account", "kind", "-seq"],
                name="ledger_by_kind",
            ),
        ),
    ]
