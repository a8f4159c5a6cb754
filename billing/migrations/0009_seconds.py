"""Audio is billed by its seconds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0008_platform_costs"),
    ]

    operations = [
        migrations.AddField(
            model_name="charge",
            name="seconds",
            field=models.IntegerField(db_default=0),
        ),
    ]
