"""The periodic sweep of deletions."""

from celery import shared_task

from common.locks import alone
from userdata.services import deletions


@shared_task
def delete_data() -> None:
    """Every minute: go on with the deletion of accounts' data."""
    with alone("delete-data") as is_alone:
        if is_alone:
            deletions.go_on_with_all()
