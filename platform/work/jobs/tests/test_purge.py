"""Jobs that ended a week ago are deleted."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.personas import new_user
from work.jobs.models import Job
from work.jobs.sweeps import purge_ended_jobs


@pytest.mark.django_db
def test_only_jobs_that_ended_long_ago_are_deleted() -> None:
    now = timezone.now()

    def job(status: Job.Status, ended_days_ago: int | None) -> Job:
        ended_at = None if ended_days_ago is None else now - timedelta(days=ended_days_ago)
        return Job.objects.create(
            kind="tests", queue="default", account=alice, status=status, ended_at=ended_at
        )

    alice = new_user("alice")
    old = [job(Job.Status.COMPLETED, 8), job(Job.Status.FAILED, 100)]
    young = [job(Job.Status.COMPLETED, 6), job(Job.Status.PAUSED, None)]

    assert purge_ended_jobs() == len(old)
    assert set(Job.objects.filter(account=alice)) == set(young)
