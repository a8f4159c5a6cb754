"""The periodic sweep of replies."""

from common.sweeps import sweep
from conversations.services import sweeps


@sweep("purge-ended-streams")
def purge_ended_streams() -> None:
    """Every minute: delete the logs of replies that ended some minutes ago."""
    sweeps.purge_all_ended_streams()
