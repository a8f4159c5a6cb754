"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from userdata.models import Export

OWNED = (
    Owned(
        Export,
        owners=("account",),
        exported="id status file_id size created_at ended_at expires_at",
        left_out="account_id",
        on_deletion=Delete(),
    ),
)
