"""A worker that is connected and takes nothing ends itself, in order, and is started again."""

import time
from functools import partial

import pytest
from celery import Celery
from django.conf import settings

from devserver.parts import QUEUES
from simulator.process import RunningSimulator
from tests import stalled_settings
from tests.worker import Worker, running_worker
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import new_job, status_of, wait_for_status, wait_until

pytestmark = pytest.mark.usefixtures("committed")


def test_it_ends_when_messages_wait_and_it_takes_none(simulator: RunningSimulator) -> None:
    with running_worker(simulator, DJANGO_SETTINGS_MODULE=stalled_settings.__name__) as worker:
        wait_for_status(new_job(handlers.QUICK), Job.Status.COMPLETED)
        time.sleep(stalled_settings.CONSUMER_STALL_SECONDS + 2)
        assert worker.process.exit_code is None  # there was nothing to take

        with Celery(broker=settings.REDIS_URL, set_as_current=False) as operator:
            for queue in QUEUES.split(","):
                wait_until(partial(_take_no_more, operator, worker, queue))
        job_id = new_job(handlers.QUICK)
        wait_until(lambda: worker.process.exit_code is not None, seconds=30)

    assert worker.process.exit_code == 0
    # It was looked out for, or it waits for the worker that is started next.
    assert status_of(job_id) in (Job.Status.COMPLETED, Job.Status.QUEUED)


def _take_no_more(operator: Celery, worker: Worker, queue: str) -> bool:
    """Ask the worker for that; has it answered?"""
    return bool(operator.control.cancel_consumer(queue, destination=[worker.name], reply=True))
