"""Work is shared between workers, and waits where there is no room for it."""

import pytest

from simulator.process import RunningSimulator
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import new_job, wait_until, written

pytestmark = pytest.mark.usefixtures("committed")


def test_two_workers_share_the_jobs_and_do_each_once(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as one, running_worker(simulator) as two:
        job_ids = [new_job(handlers.BRIEF) for _ in range(40)]
        wait_until(
            lambda: not Job.objects.filter(pk__in=job_ids).exclude(status="completed").exists()
        )

    begun = [written(job_id, "begun") for job_id in job_ids]
    assert all(len(events) == 1 for events in begun)
    assert {events[0]["pid"] for events in begun} == {one.process.pid, two.process.pid}
    assert all(written(job_id) == ["begun", "completed"] for job_id in job_ids)


def test_what_a_worker_has_no_room_for_waits(simulator: RunningSimulator) -> None:
    with running_worker(simulator, MAX_OPEN_JOBS="2"):
        job_ids = [new_job(handlers.BRIEF) for _ in range(6)]
        most = 0
        while Job.objects.filter(pk__in=job_ids).exclude(status="completed").exists():
            most = max(most, Job.objects.filter(pk__in=job_ids, status="running").count())

    assert most == 2
    assert all(written(job_id) == ["begun", "completed"] for job_id in job_ids)
