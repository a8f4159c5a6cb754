"""The periodic work of teams. It runs once at a time however many schedulers start it."""

from common.sweeps import sweep
from teams.services import purges


@sweep("purge-teams")
def purge() -> None:
    """Every hour: delete ended invitations and old entries of audit logs."""
    purges.purge()
