"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Keep, Owned
from jobs.models import Job

OWNED = (
    Owned(
        Job,
        owners=("account",),
        exported="id kind queue provider status signal attempt losses queued_at due_at started_at"
        " ended_at",
        left_out="account_id owner_id appends traceparent",
        on_deletion=Keep("It has no text of the user, and is purged a week after its end."),
    ),
)
