"""The periodic sweep of deletions."""

from common.sweeps import sweep
from privacy.services import deletions


@sweep("delete-data")
def delete_data() -> None:
    """Every minute: go on with the deletion of accounts' data."""
    deletions.go_on_with_all()
