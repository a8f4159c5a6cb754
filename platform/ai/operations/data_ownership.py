"""What accounts own of this app (`common.ownership`)."""

from ai.operations.models import Operation
from common.ownership import Anonymise, Owned

OWNED = (
    Owned(
        Operation,
        owners=("job__account",),
        exported="job_id provider request state submitted_at deadline_at is_cancelled progress"
        " result",
        left_out="provider_id failures unknowns is_unreconciled",
        # It ends with its job, and operators may have to look after it at the provider.
        on_deletion=Anonymise({"request": {}, "result": None}),
    ),
)
