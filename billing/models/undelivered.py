"""Answers of calls whose callers have gone."""

from django.db import models

from accounts.models import ApiKey, User
from billing.models.references import Reference


class UndeliveredAnswer(models.Model):
    """The call of a request under `/v1` whose connection was closed before the last byte of the
    answer was written. Whoever sends the request again gets this answer.

    `route` is the path of the request, `digest` the SHA-256 of its body, `request_id` its id.
    `kept_at` is when the caller was found gone, and then when the call ended; until then `answer`
    is null. `claim` is the repetition that gets the answer at the moment, `claimed_by` the process
    that serves it: a claim lapses with the lease of that process.
    """

    charge_id = models.UUIDField(primary_key=True)
    account = models.ForeignKey(
        User, on_delete=models.CASCADE, db_constraint=False, related_name="+"
    )
    api_key = Reference(ApiKey)
    route = models.CharField(max_length=200)
    digest = models.BinaryField()
    request_id = models.CharField(max_length=64)
    kept_at = models.DateTimeField(db_index=True)
    answer = models.BinaryField(null=True)
    claim = models.UUIDField(null=True)
    claimed_by = models.UUIDField(null=True)

    class Meta:
        indexes = [models.Index(fields=["api_key", "digest"], name="undelivered_by_request")]

    def __str__(self) -> str:
        return str(self.pk)
