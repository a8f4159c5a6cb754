from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Calls write these tables and give up after 3 s of waiting: nothing here may lock them."""

    atomic = False

    dependencies = [("billing", "0004_contracts")]

    operations = [
        AddIndexConcurrently(
            model_name="charge",
            index=models.Index(fields=["account", "-id"], name="charge_newest_first"),
        ),
        RemoveIndexConcurrently(model_name="charge", name="charge_by_account"),
        AddIndexConcurrently(
            model_name="charge",
            index=models.Index(
                condition=models.Q(("status__in", ["released", "expired"])),
                fields=["admitted_at"],
                name="charge_failed",
            ),
        ),
        AddIndexConcurrently(
            model_name="usagedaily",
            index=models.Index(fields=["day"], name="usage_by_day"),
        ),
        AddIndexConcurrently(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind", "topup")), fields=["created_at"], name="ledger_paid_in"
            ),
        ),
        AddIndexConcurrently(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind__in", ["topup", "adjust"])),
                fields=["account", "kind", "-seq"],
                name="ledger_by_kind",
            ),
        ),
    ]
