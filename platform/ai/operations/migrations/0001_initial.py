import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("jobs", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Operation",
            fields=[
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="jobs.job",
                    ),
                ),
                ("provider", models.CharField(max_length=32)),
                ("request", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "planned"),
                            ("submitting", "submitting"),
                            ("running", "running"),
                            ("cancelling", "cancelling"),
                            ("fetching", "fetching"),
                            ("ended", "ended"),
                        ],
                        db_default="planned",
                        max_length=16,
                    ),
                ),
                ("provider_id", models.CharField(blank=True, db_default="", max_length=255)),
                ("submitted_at", models.DateTimeField(null=True)),
                ("deadline_at", models.DateTimeField()),
                ("is_cancelled", models.BooleanField(db_default=False)),
                ("progress", models.FloatField(null=True)),
                ("failures", models.PositiveIntegerField(db_default=0)),
                ("unknowns", models.PositiveIntegerField(db_default=0)),
                ("result", models.JSONField(null=True)),
                ("is_unreconciled", models.BooleanField(db_default=False)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_unreconciled", True)),
                        fields=["job"],
                        name="operation_unreconciled",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ("running", "cancelling", "fetching")), _negated=True
                            ),
                            models.Q(("provider_id", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="operation_has_provider_id",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "fetching"), _negated=True),
                            ("result__isnull", False),
                            _connector="OR",
                        ),
                        name="operation_has_result",
                    ),
                ],
            },
        ),
    ]
