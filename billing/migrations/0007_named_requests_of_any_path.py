"""A route under an id is longer than 64 characters."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_grant_no_embeddings")]

    operations = [
        migrations.AlterField(
            model_name="idempotencykey", name="route", field=models.CharField(max_length=200)
        ),
    ]
