"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Keep, Owned
from privacy.models import Deletion, Export

OWNED = (
    Owned(
        Export,
        owners=("account",),
        exported="id status file_id size created_at ended_at expires_at",
        left_out="account_id",
        on_deletion=Delete(),
    ),
    Owned(
        Deletion,
        owners=("account",),
        exported="requested_at ended_at",
        left_out="account_id waits_for rewritten",
        on_deletion=Keep("It says when the data was deleted."),
    ),
)
