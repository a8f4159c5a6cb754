"""Streams of events: one for each session and each user, in order."""

from django.db import models
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
