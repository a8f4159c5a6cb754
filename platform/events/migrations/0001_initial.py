import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Stream",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("last_seq", models.BigIntegerField(db_default=0)),
                ("purged_seq", models.BigIntegerField(db_default=0)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "stream_id",
                        "seq",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("type", models.CharField(max_length=48)),
                ("actor", models.CharField(max_length=80)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("data", models.TextField()),
                (
                    "stream",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="events.stream",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Inbox",
            fields=[
                (
                    "stream",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="inbox",
                        serialize=False,
                        to="events.stream",
                    ),
                ),
                ("is_open", models.BooleanField(db_default=True)),
                ("last_number", models.IntegerField(db_default=0)),
                ("read_number", models.IntegerField(db_default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("read_number__gte", 0), ("read_number__lte", models.F("last_number"))
                        ),
                        name="inbox_read_number",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InboxMessage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "inbox_id",
                        "number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("number", models.IntegerField()),
                ("body", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "inbox",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="events.inbox",
                    ),
                ),
                (
                    "sender",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="stream",
            index=models.Index(fields=["kind", "id"], name="stream_by_kind"),
        ),
    ]
