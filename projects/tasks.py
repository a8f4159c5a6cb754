"""The periodic sweep of orders to write changes."""

from celery import shared_task

from common.locks import alone
from projects.services.apply_settlement import settle_all_lapsed


@shared_task
def settle_lapsed_applies() -> None:
    """Every 30 s: find out what orders have written whose process has died, and end them."""
    with alone("settle-lapsed-applies") as is_alone:
        if is_alone:
            settle_all_lapsed()
