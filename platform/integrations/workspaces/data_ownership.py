"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from integrations.workspaces.models import Checkout, CheckoutFile, Workspace

OWNED = (
    Owned(
        Workspace,
        owners=("account",),
        exported="id provider base_url name login connector_id scopes expires_at refused_at"
        " checked_at created_at",
        left_out="account_id token",
        on_deletion=Delete(),
    ),
    Owned(
        Checkout,
        owners=("account",),
        exported="id workspace_id provider repository url branch default_branch commit digest"
        " has_symbols created_at",
        # The names of the files at the commit, packed: the Git host has them.
        left_out="account_id listing",
        on_deletion=Delete(),
    ),
    Owned(
        CheckoutFile,
        owners=("checkout__account",),
        exported="id checkout_id path content size",
        on_deletion=Delete(),
    ),
)
