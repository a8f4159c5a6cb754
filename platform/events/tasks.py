"""The periodic sweep of users' streams."""

from common.sweeps import sweep
from events import sweeps


@sweep("purge-user-events")
def purge_user_events() -> None:
    """Every hour: delete the old events of users' own streams."""
    sweeps.purge_user_events()
