"""What becomes of a lost job: what its handler says, within bounds."""

from uuid import UUID, uuid4

import pytest
from django.db import connection

from simulator.process import RunningSimulator
from tests.worker import running_worker
from work.jobs.lost import MAX_LOSSES, recover
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.jobs.tests.drill_dead_workers import begin, lapse
from work.jobs.tests.queueing import (
    cancel,
    job_of,
    new_job,
    new_job_without_message,
    pause,
    resume,
    status_of,
    wait_for_status,
    written,
)

pytestmark = pytest.mark.usefixtures("committed")

KIND = handlers.STARTING_AGAIN


@pytest.fixture
def job_id() -> UUID:
    """A job that somebody has claimed."""
    job_id = new_job_without_message(KIND)
    claim(job_id)
    return job_id


def claim(job_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM job_claim(%s, %s, %s)", (job_id, [KIND], uuid4()))
        assert cursor.fetchone() is not None


def lose(job_id: UUID, *, attempt: int | None = None) -> None:
    recover(job_id, KIND, attempt or job_of(job_id).attempt)


def test_a_job_of_a_killed_worker_starts_again_in_another_one(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as doomed:
        job = begin(KIND)
        doomed.kill()
    lapse(job)

    end_lost_jobs()

    with running_worker(simulator):
        wait_for_status(job.pk, Job.Status.COMPLETED)
    assert written(job.pk)[-3:] == ["judged", "begun", "completed"]
    assert job_of(job.pk).attempt == 2


def test_a_worker_that_wakes_up_too_late_writes_nothing_for_the_next_attempt(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator) as sleeper:
        job = begin(KIND)
        sleeper.freeze()
        lapse(job)
        end_lost_jobs()
        before = written(job.pk)

        sleeper.thaw()
        wait_for_status(job.pk, Job.Status.COMPLETED)

    assert written(job.pk) == [*before, "begun", "completed"]
    assert before[-1] == "judged"


def test_a_job_whose_handler_has_a_fault_starts_again(simulator: RunningSimulator) -> None:
    # Not the module's worker: it would take the jobs of the other tests.
    with running_worker(simulator):
        job_id = new_job(handlers.FAULTY_AT_FIRST)
        wait_for_status(job_id, Job.Status.COMPLETED)

    assert written(job_id) == ["begun", "judged", "begun", "completed"]


def test_it_waits_for_a_worker_that_finds_it_without_a_message(job_id: UUID) -> None:
    lose(job_id)

    job = job_of(job_id)
    assert (job.status, job.losses) == (Job.Status.QUEUED, 1)
    assert (job.owner_id, job.started_at, job.ended_at) == (None, None, None)
    cancel(job_id)


def test_it_fails_when_it_has_been_lost_too_often(job_id: UUID) -> None:
    for _ in range(MAX_LOSSES):
        lose(job_id)
        claim(job_id)

    lose(job_id)

    assert status_of(job_id) == Job.Status.FAILED
    assert written(job_id) == ["judged"] * MAX_LOSSES + ["lost"]


def test_it_fails_when_its_handler_cannot_judge(job_id: UUID) -> None:
    recover(job_id, handlers.FAULTY_RECOVERY, 1)

    assert status_of(job_id) == Job.Status.FAILED
    assert written(job_id) == ["lost"]


def test_a_job_that_a_drain_has_cut_off_starts_again(simulator: RunningSimulator) -> None:
    with running_worker(simulator, DRAIN_SECONDS="1"):
        job = begin(KIND)

    end_lost_jobs()

    assert (status_of(job.pk), written(job.pk)[-1]) == (Job.Status.QUEUED, "judged")
    cancel(job.pk)


def test_claims_that_follow_a_pause_are_no_losses(job_id: UUID) -> None:
    Job.objects.filter(pk=job_id).update(attempt=MAX_LOSSES + 1)

    lose(job_id)

    assert status_of(job_id) == Job.Status.QUEUED
    cancel(job_id)


def test_one_that_is_to_be_cancelled_ends_and_nothing_of_its_judgement_is_kept(
    job_id: UUID,
) -> None:
    cancel(job_id)

    lose(job_id)

    assert status_of(job_id) == Job.Status.FAILED
    assert written(job_id) == ["lost"]


def test_one_that_is_to_be_paused_is_paused(job_id: UUID) -> None:
    pause(job_id)

    lose(job_id)

    assert (status_of(job_id), job_of(job_id).signal) == (Job.Status.PAUSED, "")
    assert resume(job_id) == {job_id}
    cancel(job_id)


def test_one_that_waits_to_start_again_can_be_cancelled(job_id: UUID) -> None:
    lose(job_id)

    assert cancel(job_id) == {job_id}

    lose(job_id)
    assert status_of(job_id) == Job.Status.CANCELLED


def test_an_earlier_attempt_is_lost_without_effect(job_id: UUID) -> None:
    lose(job_id)
    claim(job_id)

    lose(job_id, attempt=1)

    assert (status_of(job_id), job_of(job_id).attempt) == (Job.Status.RUNNING, 2)
    assert written(job_id) == ["judged"]
    cancel(job_id)
    lose(job_id)
