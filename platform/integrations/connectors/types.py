"""The words and bounds of connectors."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

MAX_CONNECTORS: Final = 20
MAX_CODE: Final = 2_048  # characters
MAX_STATE: Final = 100
MAX_QUERY: Final = 100
MAX_FILE_ID: Final = 200
MAX_PAGE_TOKEN: Final = 2_048

# A consent that is asked for has to be given within this time.
AUTHORIZATION_LIFETIME: Final = timedelta(minutes=10)
# Those of one user that may be open.
MAX_AUTHORIZATIONS: Final = 10


class Provider(StrEnum):
    """Whose accounts can be connected."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GOOGLE_DRIVE = "google_drive"


class ConnectorStatus(StrEnum):
    """`needs_reauth`: the provider does not accept our tokens any more; the user has to consent
    again."""

    CONNECTED = "connected"
    NEEDS_REAUTH = "needs_reauth"
