"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Anonymise, Owned
from work.jobs.models import Job

OWNED = (
    Owned(
        Job,
        owners=("account",),
        exported="id kind queue provider status signal attempt losses queued_at due_at started_at"
        " ended_at",
        left_out="account_id owner_id appends traceparent",
        # The rest is no text of the user, and is purged a week after the job's end.
        on_deletion=Anonymise({"traceparent": ""}),
    ),
)
