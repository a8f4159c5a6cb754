"""A worker that dies, or stands still for too long, loses its jobs, and they end once."""

from uuid import UUID

import pytest
from django.utils import timezone

from billing.tests import bank
from simulator.process import RunningSimulator
from tests.worker import running_worker
from work.jobs import services
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    cancel,
    job_of,
    new_job,
    status_of,
    wait_for_status,
    wait_until,
    written,
)
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def begin(kind: str = handlers.ENDLESS) -> Job:
    job_id = new_job(kind)
    wait_until(lambda: "step" in written(job_id))
    return job_of(job_id)


def lapse(job: Job) -> None:
    """As if the time had passed in which nobody renewed its worker's lease."""
    bank.kill(owner_of(job))


def owner_of(job: Job) -> UUID:
    assert job.owner_id is not None
    return job.owner_id


def test_the_jobs_of_a_killed_worker_fail_and_keep_what_was_written(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator) as doomed:
        job = begin()
        doomed.kill()
    steps = len(written(job.pk))
    end_lost_jobs()
    assert status_of(job.pk) == Job.Status.RUNNING  # its lease is still good
    lapse(job)

    end_lost_jobs()
    end_lost_jobs()

    assert status_of(job.pk) == Job.Status.FAILED
    assert len(written(job.pk)) == steps + 1
    assert written(job.pk)[-1] == "lost"


def test_a_worker_that_wakes_up_too_late_writes_nothing_and_stops(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator) as sleeper:
        job = begin()
        sleeper.freeze()
        lapse(job)
        end_lost_jobs()
        before = written(job.pk)

        sleeper.thaw()
        # It goes on with other work, under a new lease.
        wait_for_status(new_job(handlers.BRIEF), Job.Status.COMPLETED)

    assert written(job.pk) == before
    assert before[-1] == "lost"


def test_a_worker_that_slept_and_was_not_missed_goes_on(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as sleeper:
        job = begin()
        sleeper.freeze()
        before = len(written(job.pk))
        end_lost_jobs()
        sleeper.thaw()

        wait_until(lambda: len(written(job.pk)) > before + 5)
        assert status_of(job.pk) == Job.Status.RUNNING
        cancel(job.pk)
        wait_for_status(job.pk, Job.Status.CANCELLED)


def test_a_lease_that_has_only_just_run_out_is_doubted_first(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as doomed:
        job = begin()
        doomed.kill()
    Lease.objects.filter(pk=owner_of(job)).update(expires_at=timezone.now())

    end_lost_jobs()

    assert status_of(job.pk) == Job.Status.RUNNING
    services.end(job_id=job.pk, attempt=1, status=Job.Status.FAILED)


def test_a_job_that_cannot_be_ended_as_lost_keeps_no_other_waiting(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator) as doomed:
        stuck, free = begin(), begin()
        doomed.kill()
    Job.objects.filter(pk=stuck.pk).update(kind="tests.of_the_next_release")
    lapse(stuck)

    end_lost_jobs()

    assert status_of(stuck.pk) == Job.Status.RUNNING
    assert status_of(free.pk) == Job.Status.FAILED
    services.end(job_id=stuck.pk, attempt=1, status=Job.Status.FAILED)
