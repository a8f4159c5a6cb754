"""Attempts at what is done again. The release before begins none."""

from django.db import migrations, models

_REASONS = [
    ("initial", "initial"),
    ("restart", "restart"),
    ("revision", "revision"),
    ("stale", "stale"),
    ("reassign", "reassign"),
    ("replace", "replace"),
    ("redo", "redo"),
    ("retry", "retry"),
    ("fallback", "fallback"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0005_merged_files"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="reason",
            field=models.CharField(choices=_REASONS, max_length=16),
        ),
        migrations.AlterField(
            model_name="subtask",
            name="reason",
            field=models.CharField(choices=_REASONS, default="initial", max_length=16),
        ),
    ]
