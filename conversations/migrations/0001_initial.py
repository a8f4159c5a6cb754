import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("files", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=200)),
                (
                    "title_source",
                    models.CharField(
                        choices=[
                            ("first_message", "First Message"),
                            ("model", "Model"),
                            ("user", "User"),
                        ],
                        default="first_message",
                        max_length=16,
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=100)),
                ("system", models.TextField(blank=True)),
                ("activity", models.UUIDField(default=common.ids.uuid7)),
                ("pinned", models.BooleanField(db_default=False, default=False)),
                ("messages_count", models.PositiveIntegerField(db_default=0)),
                ("characters", models.PositiveIntegerField(db_default=0)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
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
            name="Message",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("account_id", models.UUIDField()),
                ("author_id", models.UUIDField(null=True)),
                (
                    "role",
                    models.CharField(
                        choices=[("user", "User"), ("assistant", "Assistant")], max_length=16
                    ),
                ),
                ("content", models.TextField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("reasoning_effort", models.CharField(blank=True, max_length=8)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="completed",
                        max_length=16,
                    ),
                ),
                ("finish_reason", models.CharField(blank=True, max_length=16)),
                ("error", models.JSONField(null=True)),
                ("context", models.JSONField(default=dict)),
                ("client_id", models.CharField(max_length=64, null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="conversations.message",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="conversation",
            name="leaf",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="conversations.message",
            ),
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attachments",
                        to="files.upload",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attachments",
                        to="conversations.message",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Share",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("snapshot", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "conversation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="share",
                        to="conversations.conversation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Space",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("instructions", models.TextField(blank=True)),
                (
                    "shared",
                    models.CharField(
                        choices=[("read", "Read"), ("write", "Write")], max_length=8, null=True
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
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
        migrations.AddField(
            model_name="conversation",
            name="space",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="conversations",
                to="conversations.space",
            ),
        ),
        migrations.CreateModel(
            name="Feedback",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="feedback",
                        serialize=False,
                        to="conversations.message",
                    ),
                ),
                (
                    "rating",
                    models.CharField(choices=[("up", "Up"), ("down", "Down")], max_length=8),
                ),
                ("comment", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "feedback",
            },
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["conversation", "id"], name="message_of_conversation"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["author_id"],
                condition=models.Q(("author_id__isnull", False)),
                name="message_of_another_author",
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "running")),
                fields=("conversation",),
                name="one_reply_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                condition=models.Q(("client_id__isnull", False)),
                fields=("account_id", "client_id", "conversation"),
                name="one_message_of_an_id",
            ),
        ),
        migrations.AddConstraint(
            model_name="attachment",
            constraint=models.UniqueConstraint(
                fields=("message", "upload"), name="a_file_is_attached_once"
            ),
        ),
        migrations.AddIndex(
            model_name="space",
            index=models.Index(fields=["account", "-id"], name="space_newest_first"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                fields=["account", "-pinned", "-activity"], name="conversation_as_listed"
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                fields=["space", "-pinned", "-activity"], name="conversation_in_space"
            ),
        ),
    ]
