"""The periodic sweep of files."""

from celery import shared_task

from common.locks import alone
from files.services import outputs, uploads


@shared_task
def purge_expired() -> None:
    """Every minute: delete expired files."""
    with alone("purge-expired-files") as is_alone:
        if is_alone:
            outputs.purge_expired()
            uploads.purge_expired()
