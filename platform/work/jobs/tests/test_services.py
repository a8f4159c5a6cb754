"""What becomes of jobs that nobody does."""

import pytest
from django.db import connection, transaction

from common.ids import uuid7
from work.jobs import services
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    cancel,
    job_of,
    new_job_without_message,
    pause,
    resume,
    status_of,
)

pytestmark = pytest.mark.usefixtures("committed")

# No worker knows it.
UNKNOWN = "tests.services"


def test_a_queued_job_is_cancelled_at_once() -> None:
    queued, completed = new_job_without_message(handlers.QUICK), uuid7()

    assert cancel(queued, completed) == {queued}

    assert status_of(queued) == Job.Status.CANCELLED
    assert job_of(queued).ended_at is not None
    assert cancel(queued) == set()


def test_a_queued_job_is_paused_resumed_and_cancelled_without_a_worker() -> None:
    job_id = new_job_without_message(handlers.QUICK)

    assert pause(job_id) == {job_id}
    assert status_of(job_id) == Job.Status.PAUSED
    assert resume(job_id) == {job_id}
    assert status_of(job_id) == Job.Status.QUEUED
    assert pause(job_id) == {job_id}
    assert cancel(job_id) == {job_id}
    assert resume(job_id) == set()
    assert status_of(job_id) == Job.Status.CANCELLED


def test_a_pause_does_not_undo_a_cancellation() -> None:
    job_id = new_job_without_message(handlers.QUICK)
    Job.objects.filter(pk=job_id).update(status=Job.Status.RUNNING, attempt=1)

    cancel(job_id)
    pause(job_id)
    resume(job_id)

    assert job_of(job_id).signal == Job.Signal.CANCEL
    assert not services.pause_running(job_id=job_id, attempt=1)
    assert services.end(job_id=job_id, attempt=1, status=Job.Status.CANCELLED)


def test_no_more_jobs_are_claimed_than_there_is_room_for() -> None:
    """Nor where the server believes that there are hardly any, and so asks for those that wait
    once for each job there is."""
    with transaction.atomic(), connection.cursor() as cursor:
        Job.objects.all().delete()
        cursor.execute("ANALYZE jobs_job")
        for _ in range(3):
            new_job_without_message(UNKNOWN)
        cursor.execute(
            "SELECT id FROM job_claim_waiting('{interactive}', %s, %s, '0 s', 1)",
            [[UNKNOWN], uuid7()],
        )
        assert len(cursor.fetchall()) == 1
        transaction.set_rollback(True)
