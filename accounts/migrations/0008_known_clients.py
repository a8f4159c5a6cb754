"""Clients that an account knows, and failures that count from the latest one on."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_used_id_tokens")]

    operations = [
        migrations.RenameField("signinfailures", "since", "last_at"),
        migrations.CreateModel(
            name="KnownClient",
            fields=[
                (
                    "digest",
                    models.BinaryField(max_length=32, primary_key=True, serialize=False),
                ),
                ("seen_at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="known_clients",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AlterField(
            model_name="outgoingemail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("verify_email", "Verify Email"),
                    ("reset_password", "Reset Password"),
                    ("password_changed", "Password Changed"),
                    ("password_guessed", "Password Guessed"),
                ],
                max_length=24,
            ),
        ),
    ]
