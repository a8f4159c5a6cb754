"""Embeddings are granted to nobody, and the source of a call is written API."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0005_indexes"),
        ("catalog", "0004_prices_can_be_withdrawn"),
    ]

    operations = [
        migrations.AlterField(
            model_name="charge",
            name="source",
            field=models.CharField(
                choices=[("api", "API"), ("web", "Web"), ("job", "Job")], max_length=8
            ),
        ),
        migrations.AlterField(
            model_name="contractallowance",
            name="model",
            field=models.ForeignKey(
                limit_choices_to=models.Q(("modality__in", ("chat", "image"))),
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="catalog.aimodel",
            ),
        ),
        migrations.AlterField(
            model_name="planallowance",
            name="model",
            field=models.ForeignKey(
                limit_choices_to=models.Q(("modality__in", ("chat", "image"))),
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="catalog.aimodel",
            ),
        ),
    ]
