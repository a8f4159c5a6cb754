"""Streams of events: one for each session and each user, in order; and their inboxes."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import User


class Stream(models.Model):
    """The head of one log. Its id is the id of its subject, such as a council session.

    `kind` is the product that writes it (`council`), or `user`: the stream of that user, which the
    database creates together with the account. `last_seq` is the number of the last event. Each
    append updates the row, so its lock puts commits in the order of the numbers, without gaps; it
    is the last lock of a transaction. Events up to `purged_seq` are deleted.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=16)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    last_seq = models.BigIntegerField(db_default=0)
    purged_seq = models.BigIntegerField(db_default=0)

    class Meta:
        indexes = [models.Index(fields=["kind", "id"], name="stream_by_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Event(models.Model):
    """One event. `seq` begins at 1. `actor` is `user`, `system` or `model:<key>`; `data` is JSON as
    it is delivered."""

    pk = models.CompositePrimaryKey("stream_id", "seq")
    stream = models.ForeignKey(
        Stream, on_delete=models.CASCADE, db_index=False, related_name="events"
    )
    seq = models.BigIntegerField()
    type = models.CharField(max_length=48)
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now())
    data = models.TextField()

    def __str__(self) -> str:
        return f"{self.stream_id} {self.seq} {self.type}"


class Inbox(models.Model):
    """What users send to the running work of a stream. `last_number` is the number of the newest
    message; those up to `read_number` have been used."""

    stream = models.OneToOneField(
        Stream, on_delete=models.CASCADE, primary_key=True, related_name="inbox"
    )
    is_open = models.BooleanField(db_default=True)
    last_number = models.IntegerField(db_default=0)
    read_number = models.IntegerField(db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(read_number__gte=0) & Q(read_number__lte=F("last_number")),
                name="inbox_read_number",
            )
        ]

    def __str__(self) -> str:
        return f"{self.stream_id}"


class InboxMessage(models.Model):
    """One message; they are numbered from 1 without gaps. `sender` is null when that account is
    deleted."""

    pk = models.CompositePrimaryKey("inbox_id", "number")
    inbox = models.ForeignKey(
        Inbox, on_delete=models.CASCADE, db_index=False, related_name="messages"
    )
    number = models.IntegerField()
    sender = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    body = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.inbox_id} {self.number}"
