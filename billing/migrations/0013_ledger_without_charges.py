from django.db import migrations, models

from common.indexes import AddIndexRepeatably, RemoveIndexRepeatably


class Migration(migrations.Migration):
    """Refunds are listed like other movements that are no charges. Calls write the ledger: nothing
    here may lock it."""

    atomic = False

    dependencies = [("billing", "0012_platform_costs_by_account")]

    operations = [
        AddIndexRepeatably(
            model_name="ledgerentry",
            index=models.Index(
                condition=models.Q(("kind__in", ["topup", "adjust", "refund"])),
                fields=["account", "kind", "-seq"],
                name="ledger_without_charges",
            ),
        ),
        RemoveIndexRepeatably(model_name="ledgerentry", name="ledger_by_kind"),
    ]
