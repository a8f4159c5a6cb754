"""The periodic sweep of leases."""

from datetime import timedelta

from celery import shared_task
from django.db.models.functions import Now

from common.locks import alone
from leases.models import Lease

KEPT = timedelta(days=1)


@shared_task
def purge_expired_leases() -> None:
    """Every hour: delete leases that expired a day ago. Without its lease an owner counts as
    lapsed all the same."""
    with alone("purge-expired-leases") as is_alone:
        if is_alone:
            Lease.objects.filter(expires_at__lt=Now() - KEPT).delete()
