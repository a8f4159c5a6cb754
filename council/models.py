"""Councils: one question, several models, each on a card of its own."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import User
from common.ids import uuid7


class Status(models.TextChoices):
    """The status of a call or a council; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Session(models.Model):
    """A council. Its id is also that of its event stream. Every change of a council locks this row
    first.

    `status` is `running` while any call runs; `activity` names the running action, and is empty
    where there is none. `round` and `rounds` are those of a running debate.
    """

    class Activity(models.TextChoices):
        ANSWERING = "answering"
        CHATTING = "chatting"
        MERGING = "merging"
        DEBATING = "debating"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    title = models.CharField(max_length=200)
    prompt = models.TextField()
    system = models.TextField(blank=True)
    status = models.CharField(max_length=16, choices=Status.choices)
    activity = models.CharField(max_length=16, choices=Activity.choices, blank=True)
    round = models.PositiveSmallIntegerField(null=True)
    rounds = models.PositiveSmallIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["account", "-id"], name="council_newest_first")]

    def __str__(self) -> str:
        return str(self.pk)


class Turn(models.Model):
    """One action of the user that starts calls, until all of them have ended.

    `request_id` is that of the action, which its charges have, too.
    `params` are the action's parameters; a debate's are `{rounds, focus, labels: {card_id: "A"}}`,
    and `round` is the running one. `stopped_at` is when its user stopped it: from then on it begins
    no further call. `is_replayed` is set, in memory alone, where the request has been sent before.
    """

    is_replayed = False

    class Kind(models.TextChoices):
        ANSWER = "answer"
        MESSAGE = "message"
        CHAT = "chat"
        MERGE = "merge"
        DEBATE = "debate"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.RUNNING)
    request_id = models.CharField(max_length=64, blank=True, db_default="")
    params = models.JSONField(default=dict)
    round = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(db_default=Now())
    stopped_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Card(models.Model):
    """The answers of one model. Its versions are its history; the last of them is the current one.

    `prompt` is set where the card answers another question than the session's.
    """

    class Kind(models.TextChoices):
        ANSWER = "answer"
        MERGE = "merge"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="cards")
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.ANSWER)
    prompt = models.TextField(blank=True)
    current = models.OneToOneField(
        "Version", null=True, on_delete=models.SET_NULL, related_name="current_of"
    )
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.pk)


class Message(models.Model):
    """A message of the user's after the first question: to one card, or to all (`card` is null)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="message")
    card = models.ForeignKey(Card, null=True, on_delete=models.CASCADE, related_name="+")
    content = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.pk)


class Generation(models.Model):
    """One call to a model. Its id is also that of its job and of its charge, so its usage and cost
    are stored with the charge alone.

    `content` is written when it has ended; until then the text is in the events from `first_seq`
    on. `finish_reason` is set where it completed; `error` is the `{code, message, ...}` of a
    failure.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="generations")
    card = models.ForeignKey(Card, on_delete=models.CASCADE, related_name="generations")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="generations")
    model = models.CharField(max_length=64)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.QUEUED)
    content = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=16, blank=True)
    error = models.JSONField(null=True)
    first_seq = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.pk)


class Version(models.Model):
    """One state of a card: the text of a generation, new or restored.

    Its place in the thread: `parent` is the version before it, `message` the user's message that it
    answers (null for the first question). `revises` is the version that it replaces in the thread,
    after a regeneration or a round of debate.

    `details` of a merge: `{mode, instructions, sources: [{card_id, version, label}], synthesis}`;
    of a round of debate: `{round, errors, conceded, held, changed}`.
    """

    class Source(models.TextChoices):
        INITIAL = "initial"
        REGENERATE = "regenerate"
        MESSAGE = "message"
        DEBATE = "debate"
        MERGE = "merge"
        RESTORE = "restore"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    card = models.ForeignKey(Card, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    source = models.CharField(max_length=16, choices=Source.choices)
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="versions")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="+")
    message = models.ForeignKey(Message, null=True, on_delete=models.CASCADE, related_name="+")
    revises = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="+")
    restored_from = models.PositiveIntegerField(null=True)
    instructions = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["card", "number"], name="version_numbers_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.card_id} {self.number}"
