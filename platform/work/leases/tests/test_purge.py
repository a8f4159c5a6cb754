"""Leases of long dead processes are deleted."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from work.leases.models import Lease
from work.leases.tasks import purge_expired_leases

pytestmark = pytest.mark.usefixtures("committed")


def test_a_lease_that_expired_a_day_ago_is_deleted() -> None:
    old, young, living = (_lease(expired_hours_ago=hours) for hours in (25, 23, -1))

    purge_expired_leases()

    left = set(Lease.objects.values_list("owner_id", flat=True))
    assert old not in left
    assert {young, living} <= left


def _lease(*, expired_hours_ago: int) -> UUID:
    expires_at = timezone.now() - timedelta(hours=expired_hours_ago)
    return Lease.objects.create(owner_id=uuid4(), kind="test", expires_at=expires_at).owner_id
