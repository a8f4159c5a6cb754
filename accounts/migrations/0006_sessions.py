"""Lines of refresh tokens become sessions, which access tokens name, too."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def date_from_ids(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """An id is a UUIDv7, whose first 48 bits are Unix milliseconds (RFC 9562, 5.7)."""
    apps.get_model("accounts", "UserSession").objects.update(
        created_at=models.expressions.RawSQL(
            "to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint"
            " / 1000.0)",
            (),
        )
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_email_outcomes"),
    ]

    operations = [
        migrations.RenameModel("RefreshFamily", "UserSession"),
        migrations.AlterModelOptions("usersession", {}),
        migrations.RenameField("usersession", "user", "account"),
        migrations.AlterField(
            "usersession",
            "account",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sessions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "usersession",
            "rotated_at",
            models.DateTimeField(db_index=True, default=django.utils.timezone.now),
        ),
        migrations.AddField(
            "usersession",
            "created_at",
            models.DateTimeField(
                default=django.utils.timezone.now,
                db_default=django.db.models.functions.datetime.Now(),
            ),
        ),
        migrations.AddField(
            "usersession",
            "client",
            models.CharField(blank=True, db_default="", max_length=100),
        ),
        migrations.AddField(
            "usersession",
            "client_ip",
            models.CharField(blank=True, db_default="", max_length=64),
        ),
        migrations.RunPython(date_from_ids, migrations.RunPython.noop),
    ]
