import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import accounts.addresses
import common.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SignInFailures",
            fields=[
                ("name", models.CharField(max_length=400, primary_key=True, serialize=False)),
                ("count", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField(db_index=True)),
            ],
            options={
                "verbose_name_plural": "sign-in failures",
            },
        ),
        migrations.AddField(
            model_name="user",
            name="locale",
            field=models.CharField(blank=True, db_default="", max_length=35),
        ),
        migrations.AddField(
            model_name="user",
            name="timezone",
            field=models.CharField(db_default="UTC", default="UTC", max_length=64),
        ),
        migrations.AddField(
            model_name="user",
            name="verified_by_holder",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AlterField(
            model_name="refreshfamily",
            name="rotated_at",
            field=models.DateTimeField(db_index=True),
        ),
        migrations.AlterField(
            model_name="user",
            name="email",
            field=models.EmailField(
                max_length=254, unique=True, validators=[accounts.addresses.AddressValidator()]
            ),
        ),
        migrations.CreateModel(
            name="EmailedToken",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("verify_email", "Verify Email"),
                            ("reset_password", "Reset Password"),
                        ],
                        max_length=16,
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="emailed_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="OutgoingEmail",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("verify_email", "Verify Email"),
                            ("reset_password", "Reset Password"),
                            ("password_changed", "Password Changed"),
                        ],
                        max_length=24,
                    ),
                ),
                ("address", models.EmailField(db_index=True, max_length=254)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "due_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)), fields=["due_at"], name="email_due"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LinkedIdentity",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("subject", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "linked identities",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("issuer", "subject"), name="one_user_per_identity"
                    ),
                    models.UniqueConstraint(
                        fields=("user", "issuer"), name="one_identity_per_issuer"
                    ),
                ],
            },
        ),
    ]
