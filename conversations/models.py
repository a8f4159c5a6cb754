"""Conversations: trees of messages, alternately of users and models."""

from uuid import UUID

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7
from conversations.types import MAX_CLIENT_ID
from conversations.words import Words
from media.files.models import Upload


class Space(models.Model):
    """A folder of conversations, which belong to its owner. Its instructions go into each of them.

    `shared` is what the other members of the owner's team may do in it; null: nothing
    (conversations/selectors/access.py).
    """

    class Shared(models.TextChoices):
        READ = "read"
        WRITE = "write"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    name = models.CharField(max_length=100)
    instructions = models.TextField(blank=True)
    shared = models.CharField(  # noqa: DJ001 - null is no choice
        max_length=8, choices=Shared.choices, null=True
    )
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    # Of those that selectors/access.py has read: what the reader may do.
    access: str

    class Meta:
        indexes = [models.Index(fields=["account", "-id"], name="space_newest_first")]

    def __str__(self) -> str:
        return str(self.pk)


class Conversation(models.Model):
    """A conversation. Every change of it locks this row first.

    `model` answers messages that name none; empty: the user's favourite, or the platform's choice.
    `leaf` is the end of the shown branch. `activity` is a new UUIDv7 with every message, which also
    sets `updated_at`: lists are in its order, after the `pinned` ones. `messages_count` and
    `characters` are of all branches.
    """

    class TitleSource(models.TextChoices):
        """The first words of the first message, until a model has written a title; never over the
        user's."""

        FIRST_MESSAGE = "first_message"
        MODEL = "model"
        USER = "user"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    space = models.ForeignKey(
        Space,
        null=True,
        on_delete=models.SET_NULL,
        db_index=False,
        related_name="conversations",
    )
    title = models.CharField(max_length=200, blank=True)
    title_source = models.CharField(
        max_length=16, choices=TitleSource.choices, default=TitleSource.FIRST_MESSAGE
    )
    model = models.CharField(max_length=100, blank=True)
    system = models.TextField(blank=True)
    leaf = models.ForeignKey("Message", null=True, on_delete=models.SET_NULL, related_name="+")
    activity = models.UUIDField(default=uuid7)
    pinned = models.BooleanField(default=False, db_default=False)
    messages_count = models.PositiveIntegerField(db_default=0)
    characters = models.PositiveIntegerField(db_default=0)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    # Of those that selectors/access.py has read: what the reader may do.
    access: str

    class Meta:
        indexes = [
            models.Index(fields=["account", "-pinned", "-activity"], name="conversation_as_listed"),
            models.Index(fields=["space", "-pinned", "-activity"], name="conversation_in_space"),
            # Without a pending list, which every search would have to read.
            GinIndex(Words("account_id", "title"), name="conversation_words", fastupdate=False),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class Message(models.Model):
    """A user's message, or the reply of a model.

    `account_id` is the owner of the conversation. `author_id` has sent the message, or asked for
    the reply and pays it; null: the owner. `parent` is the message before it: messages with the
    same parent are branches. `client_id` is the client's id for a user's message, unique in its
    conversation. A reply's id is also that of its job, its charge and its event stream, so its
    usage and cost are stored with the charge alone. While it is `running` its text is in its
    stream; `content` and `reasoning` are written when it has ended. `error` is the `{code, message,
    ...}` of a failed reply.

    `context` summarises the model's input: `{messages, omitted, input_tokens, attachments}`.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, db_index=False, related_name="messages"
    )
    account_id = models.UUIDField()
    author_id = models.UUIDField(null=True)
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    role = models.CharField(max_length=16, choices=Role.choices)
    content = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    model = models.CharField(max_length=100, blank=True)
    reasoning_effort = models.CharField(max_length=8, blank=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.COMPLETED)
    finish_reason = models.CharField(max_length=16, blank=True)
    error = models.JSONField(null=True)
    context = models.JSONField(default=dict)
    client_id = models.CharField(max_length=MAX_CLIENT_ID, null=True)  # noqa: DJ001 - none is ""
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    # Of those that `get_branch` has read.
    has_files: bool

    class Meta:
        indexes = [
            models.Index(fields=["conversation", "id"], name="message_of_conversation"),
            GinIndex(Words("account_id", "content"), name="message_words", fastupdate=False),
            models.Index(
                fields=["author_id"],
                condition=Q(author_id__isnull=False),
                name="message_of_another_author",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status="running"), name="one_reply_at_a_time"
            ),
            # Account first, to find a message by its id without its conversation.
            models.UniqueConstraint(
                fields=["account_id", "client_id", "conversation"],
                condition=Q(client_id__isnull=False),
                name="one_message_of_an_id",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def asker_id(self) -> UUID:
        """Who has sent the message, or asked for the reply."""
        return self.author_id or self.account_id


class Feedback(models.Model):
    """A user's rating of a reply. Operators read it, without the message."""

    class Rating(models.TextChoices):
        UP = "up"
        DOWN = "down"

    message = models.OneToOneField(
        Message, on_delete=models.CASCADE, primary_key=True, related_name="feedback"
    )
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    rating = models.CharField(max_length=8, choices=Rating.choices)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return f"{self.rating} {self.message_id}"


class Attachment(models.Model):
    """A file of a user's message."""

    id = models.BigAutoField(primary_key=True)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="attachments")
    upload = models.ForeignKey(Upload, on_delete=models.PROTECT, related_name="attachments")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "upload"], name="a_file_is_attached_once")
        ]

    def __str__(self) -> str:
        return f"{self.message_id} {self.upload_id}"


class Share(models.Model):
    """A snapshot of a conversation for everybody with the link, from when it was last shared.

    The link's token is this row's id, signed; it is not stored. `snapshot` is `{title, messages:
    [{role, content, model, created_at}]}`.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    conversation = models.OneToOneField(
        Conversation, on_delete=models.CASCADE, related_name="share"
    )
    snapshot = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.pk)
