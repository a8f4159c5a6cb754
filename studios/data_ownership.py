"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Cascade, Delete, Owned
from studios.models import Generation, GenerationOutput, ReferencePicture

OWNED = (
    Owned(
        Generation,
        owners=("account",),
        exported="id kind model prompt params parent_id is_extension status progress seconds"
        " lead_seconds error starred created_at started_at ended_at deleted_at",
        # What the provider calls it.
        left_out="account_id reference",
        on_deletion=Delete(),
    ),
    # A finished generation has results at every moment (studios/invariants.py).
    Owned(
        GenerationOutput,
        owners=("generation__account",),
        exported="id generation_id position file_id thumbnail_id width height seconds seed starred",
        on_deletion=Cascade(),
    ),
    Owned(
        ReferencePicture,
        owners=("generation__account",),
        exported="id generation_id upload_id",
        on_deletion=Cascade(),
    ),
)
