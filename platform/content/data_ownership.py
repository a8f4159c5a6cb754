"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Anonymise, Delete, Owned
from content.models import FlagOverride, Revision

OWNED = (
    Owned(
        Revision,
        owners=("author",),
        exported="id entry_id title body severity link_url link_text created_at",
        left_out="author_id",
        # An operator wrote it for the site.
        on_deletion=Anonymise({"author_id": None}),
    ),
    Owned(
        FlagOverride,
        owners=("user",),
        exported="id flag_id is_on changed_at",
        left_out="user_id plan_id percent",
        on_deletion=Delete(),
    ),
)
