"""Redis goes away: nobody who asks for work waits for it, and the work is done."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from simulator.process import RunningSimulator
from tests.own_redis import OwnRedis
from tests.stopwatch import Stopwatch
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.enqueuer import Enqueuer, running_enqueuer
from work.jobs.tests.queueing import job_of, wait_for_status

pytestmark = pytest.mark.usefixtures("committed")

Away = Callable[[], AbstractContextManager[None]]
# It takes some milliseconds.
QUICKLY = 0.3
LOOKED_OUT_FOR = 9


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    own = OwnRedis(tmp_path)
    yield own
    own.stop()


@pytest.fixture(params=[OwnRedis.dead, OwnRedis.frozen], ids=["dead", "frozen"])
def away(request: pytest.FixtureRequest, own_redis: OwnRedis) -> Away:
    return lambda: request.param(own_redis)


@pytest.fixture
def enqueuer(simulator: RunningSimulator, own_redis: OwnRedis) -> Iterator[Enqueuer]:
    with running_enqueuer(simulator, REDIS_URL=own_redis.url) as enqueuer:
        yield enqueuer


def test_jobs_are_put_in_quickly_and_done_while_it_is_away_and_taken_again_after(
    committed: None,
    simulator: RunningSimulator,
    own_redis: OwnRedis,
    away: Away,
    enqueuer: Enqueuer,
) -> None:
    with running_worker(simulator, REDIS_URL=own_redis.url):
        job_id, _ = enqueuer.new_job(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED)

        with away():
            with Stopwatch() as watch:
                put_in = [enqueuer.new_job(handlers.QUICK) for _ in range(5)]
            for job_id, seconds in put_in:
                assert seconds < QUICKLY + watch.lost
                wait_for_status(job_id, Job.Status.COMPLETED, seconds=LOOKED_OUT_FOR)

        until_messages_are_taken(enqueuer)


def test_a_worker_that_starts_without_it_works(
    simulator: RunningSimulator, own_redis: OwnRedis, enqueuer: Enqueuer
) -> None:
    with own_redis.dead(), running_worker(simulator, takes_messages=False, REDIS_URL=own_redis.url):
        job_id, _ = enqueuer.new_job(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED, seconds=20)


def until_messages_are_taken(enqueuer: Enqueuer) -> None:
    """Celery connects again within 12 seconds, and longer after longer outages."""
    for _ in range(10):
        job_id, _ = enqueuer.new_job(handlers.QUICK)
        wait_for_status(job_id, Job.Status.COMPLETED, seconds=LOOKED_OUT_FOR)
        job = job_of(job_id)
        assert job.started_at is not None
        if (job.started_at - job.queued_at).total_seconds() < 4:
            return
    raise AssertionError("no message is taken any more")
