"""SIGTERM: a worker takes nothing more, what it does may end, and then it gives up its lease."""

import pytest

from billing.models import Charge, OwnerLease
from jobs.models import Job
from jobs.sweeps import abandon_lapsed_jobs
from jobs.tests import handlers
from jobs.tests.desk import job_of, new_job, status_of, wait_until, written
from simulator.process import RunningSimulator
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")


def test_what_runs_is_finished_and_nothing_else_begun(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as worker:
        running = [new_job(handlers.BRIEF) for _ in range(3)]
        wait_until(lambda: all(written(job_id) == ["begun"] for job_id in running))
        worker.ask_to_stop()
        late = new_job(handlers.QUICK)

    assert worker.process.exit_code == 0
    assert all(written(job_id) == ["begun", "completed"] for job_id in running)
    assert status_of(late) == Job.Status.QUEUED
    owners = {job_of(job_id).owner_id for job_id in running}
    assert len(owners) == 1
    assert not OwnerLease.objects.filter(owner_id__in=owners).exists()


def test_a_call_that_does_not_end_in_time_is_stopped_and_settled_at_what_it_brought(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator, DRAIN_SECONDS="1") as worker:
        job_id = new_job(handlers.CALLING)
        wait_until(lambda: Charge.objects.filter(pk=job_id, tokens_out__gt=0).exists())

    assert worker.process.exit_code == 0
    charge = Charge.objects.get(pk=job_id)
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < 400
    assert written(job_id) == ["begun", "failed"]
    assert job_of(job_id).status == Job.Status.FAILED


def test_what_does_not_end_in_time_is_abandoned_by_the_next_sweep(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator, DRAIN_SECONDS="1") as worker:
        endless = new_job(handlers.ENDLESS)
        wait_until(lambda: "step" in written(endless))

    assert worker.process.exit_code == 0
    assert status_of(endless) == Job.Status.RUNNING
    abandon_lapsed_jobs()
    assert status_of(endless) == Job.Status.FAILED
    assert written(endless)[-1] == "abandoned"
