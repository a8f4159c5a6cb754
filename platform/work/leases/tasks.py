"""The periodic sweep of leases."""

from datetime import timedelta

from django.db.models.functions import Now

from common.sweeps import sweep
from work.leases.models import Lease

KEPT = timedelta(days=1)


@sweep("purge-expired-leases")
def purge_expired_leases() -> None:
    """Every hour: delete leases that expired a day ago. Without its lease an owner counts as
    lapsed all the same."""
    Lease.objects.filter(expires_at__lt=Now() - KEPT).delete()
