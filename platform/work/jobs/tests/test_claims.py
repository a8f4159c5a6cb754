"""Claims: a job is begun once, by a worker that knows its kind, soon after it was asked for."""

import pytest

from tests.stopwatch import Stopwatch
from tests.worker import Worker
from work.jobs.dispatch import get_dispatcher
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    job_of,
    new_job,
    new_job_without_message,
    status_of,
    wait_for_status,
    written,
)

pytestmark = pytest.mark.usefixtures("committed")


def test_a_job_is_done_soon_after_the_commit(worker: Worker) -> None:
    with Stopwatch() as watch:
        job_id = new_job(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED, seconds=4)

    job = job_of(job_id)
    assert written(job_id, "begun") == [{"attempt": 1, "pid": worker.process.pid}]
    assert job.started_at is not None
    assert job.ended_at is not None
    # Sooner than anybody would have looked out for it.
    assert (job.started_at - job.queued_at).total_seconds() < 4 + watch.lost


def test_a_job_of_every_queue_is_done(worker: Worker) -> None:
    for queue in Job.Queue:
        wait_for_status(new_job(handlers.QUICK, queue=queue), Job.Status.COMPLETED, seconds=4)


def test_a_message_that_is_delivered_twice_begins_a_job_once(worker: Worker) -> None:
    job_id = new_job_without_message(handlers.QUICK)
    for _ in range(5):
        get_dispatcher().send(job_id, Job.Queue.INTERACTIVE)

    wait_for_status(job_id, Job.Status.COMPLETED)
    get_dispatcher().send(job_id, Job.Queue.INTERACTIVE)
    wait_for_status(new_job(handlers.QUICK), Job.Status.COMPLETED)

    assert written(job_id) == ["begun", "completed"]


def test_a_job_whose_message_was_lost_is_looked_out_for(worker: Worker) -> None:
    with Stopwatch() as watch:
        job_id = new_job_without_message(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED, seconds=9)

    job = job_of(job_id)
    assert job.started_at is not None
    assert 5 <= (job.started_at - job.queued_at).total_seconds() < 8 + watch.lost


def test_a_job_of_an_unknown_kind_is_left_to_those_who_know_it(worker: Worker) -> None:
    stranger = new_job("tests.of_the_next_release")
    looked_out = new_job_without_message(handlers.QUICK)

    # Asked for later, and looked out for, so that the stranger was passed over.
    wait_for_status(looked_out, Job.Status.COMPLETED)

    assert status_of(stranger) == Job.Status.QUEUED
