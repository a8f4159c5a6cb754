"""The words and bounds of workspaces."""

from enum import StrEnum
from typing import Final

# The feature that a plan has to include.
FEATURE: Final = "workspaces"

MAX_WORKSPACES: Final = 20
MAX_NAME: Final = 100
MAX_BASE_URL: Final = 500
MAX_TOKEN: Final = 2_048  # characters
MAX_QUERY: Final = 100
MAX_REPOSITORY: Final = 400  # characters of a full name
MAX_PAGE: Final = 1_000


class WorkspaceStatus(StrEnum):
    """`needs_reauth`: the host does not accept the token any more, or it has expired."""

    CONNECTED = "connected"
    NEEDS_REAUTH = "needs_reauth"
