"""A worker that is connected and takes nothing ends itself, in order, and is started again."""

import pytest
from celery import Celery
from django.conf import settings

from jobs.models import Job
from jobs.tests import handlers
from jobs.tests.desk import new_job, wait_for_status, wait_until, written
from simulator.process import RunningSimulator
from tests.worker import QUEUES, running_worker

pytestmark = pytest.mark.usefixtures("committed")


def test_it_ends_when_messages_wait_and_it_takes_none(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as worker:
        with Celery(broker=settings.REDIS_URL, set_as_current=False) as operator:
            for queue in QUEUES.split(","):
                operator.control.cancel_consumer(queue, destination=[worker.name], reply=True)
        job_id = new_job(handlers.QUICK)

        # What it is there for is done all the same.
        wait_for_status(job_id, Job.Status.COMPLETED)
        wait_until(lambda: worker.process.exit_code is not None, seconds=20)

    assert worker.process.exit_code == 0
    assert written(job_id) == ["begun", "completed"]


def test_it_does_not_while_nothing_waits(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as worker:
        job_id = new_job(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED)
        with pytest.raises(AssertionError, match="did not happen"):
            wait_until(
                lambda: worker.process.exit_code is not None, seconds=settings.DEAF_SECONDS + 3
            )
