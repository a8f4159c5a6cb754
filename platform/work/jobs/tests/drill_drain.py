"""SIGTERM: a worker takes nothing more, what it does may end, and then it gives up its lease."""

import time
from urllib.parse import urlsplit

import psycopg
import pytest

from billing.models import Charge
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos.proxy import LossyProxy
from tests.locks import wait_until_blocked
from tests.service import database_url
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tasks import record_heartbeat
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    in_claims,
    job_of,
    new_job,
    status_of,
    wait_for_status,
    wait_until,
    written,
)
from work.jobs.worker import LEAVE_SECONDS
from work.leases.models import Lease

pytestmark = pytest.mark.usefixtures("committed")


def proxy_to_the_database() -> LossyProxy:
    port = urlsplit(database_url()).port
    assert port
    return LossyProxy(port)


def through(proxy: LossyProxy) -> str:
    """The database's URL, by way of the proxy."""
    return database_url().replace(f":{urlsplit(database_url()).port}/", f":{proxy.port}/")


def test_what_runs_is_finished_and_nothing_else_begun(simulator: RunningSimulator) -> None:
    with running_worker(simulator) as worker:
        running = [new_job(handlers.BRIEF) for _ in range(3)]
        wait_until(lambda: all("begun" in written(job_id) for job_id in running))
        worker.ask_to_stop()
        late = new_job(handlers.QUICK)

    assert worker.process.exit_code == 0
    assert all(written(job_id) == ["begun", "completed"] for job_id in running)
    assert status_of(late) == Job.Status.QUEUED
    owners = {job_of(job_id).owner_id for job_id in running}
    assert len(owners) == 1
    assert not Lease.objects.filter(owner_id__in=owners).exists()


def test_a_call_that_does_not_end_in_time_is_stopped_and_settled_at_what_it_brought(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator, DRAIN_SECONDS="1") as worker:
        job_id = new_job(handlers.CALLING)
        wait_until(lambda: Charge.objects.filter(pk=job_id, units__tokens_out__gt=0).exists())

    assert worker.process.exit_code == 0
    charge = Charge.objects.get(pk=job_id)
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < 400
    assert written(job_id) == ["begun", "failed"]
    assert job_of(job_id).status == Job.Status.FAILED


def test_what_does_not_end_in_time_is_ended_as_lost_by_the_next_sweep(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator, DRAIN_SECONDS="1") as worker:
        endless = new_job(handlers.ENDLESS)
        wait_until(lambda: "step" in written(endless))

    assert worker.process.exit_code == 0
    assert status_of(endless) == Job.Status.RUNNING
    end_lost_jobs()
    assert status_of(endless) == Job.Status.FAILED
    assert written(endless)[-1] == "lost"


def test_a_call_is_stopped_in_time_while_celerys_own_threads_still_hang(
    simulator: RunningSimulator,
) -> None:
    with (
        running_worker(simulator, DRAIN_SECONDS="1") as worker,
        psycopg.connect(database_url()) as holder,
    ):
        job_id = new_job(handlers.CALLING)
        wait_until(lambda: Charge.objects.filter(pk=job_id, units__tokens_out__gt=0).exists())
        holder.execute("LOCK TABLE jobs_queueheartbeat IN ACCESS EXCLUSIVE MODE")
        record_heartbeat.apply_async((Job.Queue.DEFAULT,), queue=Job.Queue.DEFAULT)
        wait_until_blocked(holder)
        worker.ask_to_stop()

        wait_for_status(job_id, Job.Status.FAILED, seconds=5)
        assert worker.process.exit_code is None

    assert Charge.objects.get(pk=job_id).status == "settled"


def test_it_ends_although_the_database_is_frozen(simulator: RunningSimulator) -> None:
    with (
        proxy_to_the_database() as proxy,
        running_worker(simulator, DRAIN_SECONDS="1", DATABASE_URL=through(proxy)) as worker,
    ):
        job_id = new_job(handlers.BRIEF)
        wait_until(lambda: "begun" in written(job_id))
        proxy.flowing.clear()
        time.sleep(handlers.BRIEF_SECONDS + 0.5)
        worker.ask_to_stop()
        worker.was_killed = True
        wait_until(lambda: worker.process.exit_code is not None, seconds=1 + LEAVE_SECONDS + 3)
        proxy.flowing.set()

    # By itself: in order where its statements gave up in time, or without a last word.
    assert worker.process.exit_code in (0, 1)


def test_a_claim_that_nobody_heard_of_is_put_back(simulator: RunningSimulator) -> None:
    with (
        proxy_to_the_database() as proxy,
        running_worker(simulator, DATABASE_URL=through(proxy)),
    ):
        job_id = uuid7()
        proxy.lose_reply_to = in_claims(job_id)
        new_job(handlers.QUICK, job_id=job_id)
        assert proxy.lost.wait(10)
        wait_for_status(job_id, Job.Status.RUNNING)

    assert status_of(job_id) == Job.Status.QUEUED
    assert written(job_id) == []
