"""The periodic sweep of users' streams."""

from celery import shared_task

from common.locks import alone
from events import sweeps


@shared_task
def purge_user_events() -> None:
    """Every hour: delete the old events of users' own streams."""
    with alone("purge-user-events") as is_alone:
        if is_alone:
            sweeps.purge_user_events()
