"""Answers that take several steps, tries, and what a user sets for a run. The release before
fills none of the columns."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0003_owner_of_an_apply"),
    ]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="run",
            name="is_finishing",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="run",
            name="max_output_tokens",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="wants_mail",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="step",
            name="continues_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="step",
            name="goes_on",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="step",
            name="number",
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name="subtask",
            name="max_output_tokens",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="reason",
            field=models.CharField(
                choices=[
                    ("initial", "initial"),
                    ("restart", "restart"),
                    ("revision", "revision"),
                    ("stale", "stale"),
                    ("reassign", "reassign"),
                    ("replace", "replace"),
                    ("retry", "retry"),
                    ("fallback", "fallback"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="pause_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("user", "user"),
                    ("plan_review", "plan_review"),
                    ("insufficient_balance", "insufficient_balance"),
                    ("budget_exceeded", "budget_exceeded"),
                    ("provider_unavailable", "provider_unavailable"),
                    ("repository_unavailable", "repository_unavailable"),
                    ("interrupted", "interrupted"),
                    ("step_failed", "step_failed"),
                ],
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="subtask",
            name="assigned_by",
            field=models.CharField(
                choices=[
                    ("user", "user"),
                    ("plan", "plan"),
                    ("spread", "spread"),
                    ("fallback", "fallback"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="subtask",
            name="reason",
            field=models.CharField(
                choices=[
                    ("initial", "initial"),
                    ("restart", "restart"),
                    ("revision", "revision"),
                    ("stale", "stale"),
                    ("reassign", "reassign"),
                    ("replace", "replace"),
                    ("retry", "retry"),
                    ("fallback", "fallback"),
                ],
                default="initial",
                max_length=16,
            ),
        ),
    ]
