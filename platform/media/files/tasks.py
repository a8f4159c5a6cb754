"""The periodic sweep of files."""

from common.sweeps import sweep
from media.files.services import outputs, uploads


@sweep("purge-expired-files")
def purge_expired() -> None:
    """Every minute: delete expired files."""
    outputs.purge_expired()
    uploads.purge_expired()
