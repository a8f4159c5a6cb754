"""What is wanted of a job while a worker does it: to be cancelled, to be paused, to go on."""

import pytest

from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    cancel,
    job_of,
    new_job,
    new_job_without_message,
    pause,
    resume,
    wait_for_status,
    wait_until,
    written,
)

pytestmark = pytest.mark.usefixtures("committed", "worker")


def test_a_cancelled_job_is_not_begun() -> None:
    cancelled = new_job_without_message(handlers.QUICK)
    cancel(cancelled)
    looked_out = new_job_without_message(handlers.QUICK)

    wait_for_status(looked_out, Job.Status.COMPLETED)

    assert written(cancelled) == []


def test_a_running_job_hears_that_it_is_cancelled_within_a_second() -> None:
    job_id = new_job(handlers.ENDLESS)
    wait_until(lambda: "step" in written(job_id))

    assert cancel(job_id) == set()

    wait_for_status(job_id, Job.Status.CANCELLED, seconds=1)
    assert written(job_id)[-1] == "cancelled"


def test_a_running_job_is_paused_and_goes_on_when_it_is_resumed() -> None:
    job_id = new_job(handlers.ENDLESS)
    wait_until(lambda: "step" in written(job_id))

    assert pause(job_id) == set()
    wait_for_status(job_id, Job.Status.PAUSED, seconds=2)
    paused_at = len(written(job_id))
    assert job_of(job_id).ended_at is None
    assert resume(job_id) == {job_id}

    wait_until(lambda: len(written(job_id, "begun")) == 2, seconds=4)
    assert written(job_id)[paused_at] == "begun"
    assert [begun["attempt"] for begun in written(job_id, "begun")] == [1, 2]
    cancel(job_id)
    wait_for_status(job_id, Job.Status.CANCELLED)
