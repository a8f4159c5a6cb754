import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import accounts.addresses
import common.encryption
import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "email",
                    models.EmailField(
                        max_length=254,
                        unique=True,
                        validators=[accounts.addresses.AddressValidator()],
                    ),
                ),
                ("mailbox", models.CharField(db_default="", editable=False, max_length=254)),
                (
                    "signup_network",
                    models.CharField(blank=True, db_default="", editable=False, max_length=50),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("avatar_url", models.URLField(blank=True, max_length=500)),
                ("email_verified", models.BooleanField(default=False)),
                (
                    "verified_by_holder",
                    models.BooleanField(db_default=False, default=False, editable=False),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("suspended", "Suspended"),
                            ("deactivated", "Deactivated"),
                            ("deleted", "Deleted"),
                        ],
                        default="active",
                        max_length=16,
                    ),
                ),
                ("token_version", models.PositiveIntegerField(default=1)),
                ("is_staff", models.BooleanField(default=False)),
                ("locale", models.CharField(blank=True, db_default="", max_length=35)),
                ("timezone", models.CharField(db_default="UTC", default="UTC", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SignInFailures",
            fields=[
                ("name", models.CharField(max_length=400, primary_key=True, serialize=False)),
                ("count", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "verbose_name_plural": "sign-in failures",
            },
        ),
        migrations.CreateModel(
            name="UsedIdToken",
            fields=[
                ("digest", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                (
                    "operator",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="second_factor",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("secret", common.encryption.EncryptedField()),
                ("last_step", models.BigIntegerField()),
                (
                    "recovery_codes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), size=None
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("pepper", models.CharField(max_length=8)),
                ("hint", models.CharField(db_index=True, max_length=4)),
                ("monthly_spend_cap", models.BigIntegerField(blank=True, null=True)),
                (
                    "allowed_models",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_keys",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
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
            name="KnownClient",
            fields=[
                ("digest", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
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
            },
        ),
        migrations.CreateModel(
            name="ModelPreference",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("model", models.CharField(max_length=100)),
                ("enabled", models.BooleanField(default=True)),
                ("favourite", models.BooleanField(default=False)),
                ("instructions", models.TextField(blank=True)),
                ("reasoning_effort", models.CharField(blank=True, max_length=8)),
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
                ("kind", models.CharField(max_length=24)),
                ("about", models.UUIDField(null=True)),
                ("address", models.EmailField(db_index=True, max_length=254)),
                ("mailbox", models.CharField(db_default="", db_index=True, max_length=254)),
                ("network", models.CharField(db_default="", db_index=True, max_length=50)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "due_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("sent", "Sent"), ("failed", "Failed"), ("dropped", "Dropped")],
                        db_default="",
                        max_length=8,
                    ),
                ),
                ("error", models.CharField(blank=True, db_default="", max_length=300)),
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
            name="UserSession",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("current", models.UUIDField(default=uuid.uuid4)),
                ("previous", models.UUIDField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        default=django.utils.timezone.now,
                    ),
                ),
                (
                    "rotated_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
                ("client", models.CharField(blank=True, db_default="", max_length=100)),
                ("client_ip", models.CharField(blank=True, db_default="", max_length=64)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(fields=["mailbox", "created_at"], name="user_by_mailbox"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(fields=["signup_network", "created_at"], name="user_by_network"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                condition=models.Q(("is_staff", True)), fields=["email"], name="user_operators"
            ),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(("email", django.db.models.functions.text.Lower("email"))),
                name="email_is_lower",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("monthly_spend_cap", None), ("monthly_spend_cap__gte", 0), _connector="OR"
                ),
                name="monthly_spend_cap_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="linkedidentity",
            constraint=models.UniqueConstraint(
                fields=("issuer", "subject"), name="one_user_per_identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="linkedidentity",
            constraint=models.UniqueConstraint(
                fields=("user", "issuer"), name="one_identity_per_issuer"
            ),
        ),
        migrations.AddConstraint(
            model_name="modelpreference",
            constraint=models.UniqueConstraint(
                fields=("account", "model"), name="one_preference_per_model"
            ),
        ),
    ]
