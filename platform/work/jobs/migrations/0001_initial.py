import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="QueueHeartbeat",
            fields=[
                ("queue", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(max_length=32)),
                (
                    "queue",
                    models.CharField(
                        choices=[
                            ("interactive", "Interactive"),
                            ("media", "Media"),
                            ("default", "Default"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("scheduled", "Scheduled"),
                            ("paused", "Paused"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        db_default="queued",
                        max_length=16,
                    ),
                ),
                (
                    "signal",
                    models.CharField(
                        blank=True,
                        choices=[("", "None"), ("pause", "Pause"), ("cancel", "Cancel")],
                        db_default="",
                        max_length=8,
                    ),
                ),
                ("attempt", models.PositiveIntegerField(db_default=0)),
                ("appends", models.PositiveIntegerField(db_default=0)),
                ("losses", models.PositiveSmallIntegerField(db_default=0)),
                ("owner_id", models.UUIDField(null=True)),
                (
                    "queued_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("due_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("provider", models.CharField(blank=True, db_default="", max_length=32)),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "queued")),
                        fields=["queue", "queued_at"],
                        name="job_queued",
                    ),
                    models.Index(
                        condition=models.Q(("status", "scheduled")),
                        fields=["queue", "due_at"],
                        name="job_scheduled",
                    ),
                    models.Index(
                        condition=models.Q(
                            models.Q(("provider", ""), _negated=True), ("attempt__gt", 1)
                        ),
                        fields=["provider", "started_at"],
                        name="job_continued",
                    ),
                    models.Index(
                        condition=models.Q(("status", "running")),
                        fields=["owner_id"],
                        name="job_running",
                    ),
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=["account"],
                        name="job_of_account",
                    ),
                    models.Index(
                        condition=models.Q(("ended_at__isnull", False)),
                        fields=["ended_at"],
                        name="job_ended",
                    ),
                ],
            },
        ),
    ]
