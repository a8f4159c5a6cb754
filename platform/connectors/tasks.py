"""What is done for connectors without a request."""

from celery import shared_task

from common.locks import alone
from connectors.services import connectors


@shared_task
def sweep() -> None:
    """Every ten minutes: revoke what could not be revoked before."""
    with alone("sweep-connectors") as is_alone:
        if is_alone:
            connectors.sweep()
