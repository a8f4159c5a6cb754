"""What became of staged files that somebody else had changed."""

import django.db.models.deletion
from django.db import migrations, models

import common.ids

# The release before deletes files and orders without knowing what belongs to them.
_CASCADES = """
ALTER TABLE projects_filemerge
    ADD CONSTRAINT filemerge_goes_with_its_file FOREIGN KEY (file_id)
        REFERENCES projects_attemptfile ON DELETE CASCADE NOT VALID,
    ADD CONSTRAINT filemerge_goes_with_its_order FOREIGN KEY (order_id)
        REFERENCES projects_apply ON DELETE CASCADE NOT VALID
"""


class Migration(migrations.Migration):
    dependencies = [("projects", "0004_answers_of_several_steps")]

    operations = [
        # Calls give up after 3 s of waiting for a lock.
        migrations.RunSQL("SET LOCAL lock_timeout = '2s'", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="FileMerge",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("merged", "merged"),
                            ("conflict", "conflict"),
                            ("resolved", "resolved"),
                        ],
                        max_length=16,
                    ),
                ),
                ("sha", models.CharField(blank=True, max_length=64)),
                ("theirs", models.TextField(null=True)),
                ("text", models.TextField(null=True)),
                ("has_base", models.BooleanField(default=False)),
                ("base_sha", models.CharField(blank=True, max_length=64)),
                ("base", models.TextField(null=True)),
                (
                    "file",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merge",
                        to="projects.attemptfile",
                    ),
                ),
                (
                    "order",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="merges",
                        to="projects.apply",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_CASCADES, migrations.RunSQL.noop),
    ]
