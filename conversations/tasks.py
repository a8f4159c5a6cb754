"""The periodic sweep of replies."""

from celery import shared_task

from common.locks import alone
from conversations.services import sweeps


@shared_task
def purge_ended_streams() -> None:
    """Every minute: delete the logs of replies that ended some minutes ago."""
    with alone("purge-ended-streams") as is_alone:
        if is_alone:
            sweeps.purge_all_ended_streams()
