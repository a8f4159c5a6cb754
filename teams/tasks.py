"""The periodic work of teams. It runs once at a time however many schedulers start it."""

from celery import shared_task

from common.locks import alone
from teams.services import purges


@shared_task
def purge() -> None:
    """Every hour: delete ended invitations and old entries of audit logs."""
    with alone("purge-teams") as is_alone:
        if is_alone:
            purges.purge()
