"""Room in the pages for the rows that change most, so that updates stay in their page (HOT)."""

from django.db import migrations

FILLFACTORS = {
    "billing_wallet": 50,
    "billing_allowance": 70,
    "billing_keymonth": 70,
    "billing_chargegroup": 70,
    "billing_charge": 80,
    "billing_usagedaily": 70,
}


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial")]
    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} SET (fillfactor = {fillfactor})",
            f"ALTER TABLE {table} RESET (fillfactor)",
        )
        for table, fillfactor in FILLFACTORS.items()
    ]
