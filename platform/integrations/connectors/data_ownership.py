"""What accounts own of this app (`common.ownership`)."""

from common.ownership import Delete, Owned
from integrations.connectors.models import Authorization, Connector

OWNED = (
    Owned(
        Authorization,
        owners=("account",),
        exported="id provider page expires_at",
        left_out="account_id digest sealed_verifier",
        on_deletion=Delete(),
    ),
    Owned(
        Connector,
        owners=("account",),
        exported="id provider base_url login scopes expires_at refused_at disconnected_at"
        " created_at",
        left_out="account_id access_token refresh_token",
        on_deletion=Delete(),
    ),
)
