"""The periodic sweep of orders to write changes."""

from common.sweeps import sweep
from projects.services.apply_settlement import settle_all_lapsed


@sweep("settle-lapsed-applies")
def settle_lapsed_applies() -> None:
    """Every 30 s: find out what orders have written whose process has died, and end them."""
    settle_all_lapsed()
