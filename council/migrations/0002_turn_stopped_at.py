"""When an action was stopped."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("council", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="stopped_at",
            field=models.DateTimeField(null=True),
        ),
    ]
