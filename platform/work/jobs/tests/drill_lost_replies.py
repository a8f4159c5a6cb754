"""Statements whose replies are lost, and a database that goes away under a worker."""

import time
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db.models import F

from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.chaos.proxy import LossyProxy
from tests.service import database_url
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    cancel,
    in_appends,
    in_claims,
    new_job,
    wait_for_status,
    wait_until,
    written,
)

LONGER_THAN_A_STATEMENT = 8

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture
def proxy(committed: None, simulator: RunningSimulator) -> Iterator[LossyProxy]:
    """Stands between a worker and the database."""
    port = urlsplit(database_url()).port
    assert port
    with LossyProxy(port) as proxy:
        through_proxy = database_url().replace(f":{port}/", f":{proxy.port}/")
        with running_worker(simulator, DATABASE_URL=through_proxy):
            yield proxy


def test_a_claim_that_nobody_hears_of_is_put_back_and_the_job_done(proxy: LossyProxy) -> None:
    job_id = uuid7()
    proxy.lose_reply_to = in_claims(job_id)
    new_job(handlers.QUICK, job_id=job_id)
    assert proxy.lost.wait(10)
    wait_for_status(job_id, Job.Status.RUNNING)
    assert written(job_id) == []

    # As if the time had passed within which every claim is answered.
    ago = timedelta(seconds=20)
    claimed = Job.objects.filter(pk=job_id)
    claimed.update(started_at=F("started_at") - ago, queued_at=F("queued_at") - ago)

    wait_for_status(job_id, Job.Status.COMPLETED)
    assert [begun["attempt"] for begun in written(job_id, "begun")] == [2]


def test_events_whose_receipt_is_lost_are_written_once(proxy: LossyProxy) -> None:
    job_id = uuid7()
    proxy.lose_reply_to = in_appends(job_id)
    new_job(handlers.QUICK, job_id=job_id)

    wait_for_status(job_id, Job.Status.COMPLETED)

    assert proxy.lost.is_set()
    assert written(job_id) == ["begun", "completed"]


def test_a_running_job_goes_on_when_the_database_is_back(proxy: LossyProxy) -> None:
    job_id = new_job(handlers.ENDLESS)
    wait_until(lambda: "step" in written(job_id))

    proxy.flowing.clear()
    time.sleep(LONGER_THAN_A_STATEMENT)
    proxy.flowing.set()
    written_by_then = len(written(job_id))

    wait_until(lambda: len(written(job_id)) > written_by_then + 20, seconds=30)
    cancel(job_id)
    wait_for_status(job_id, Job.Status.CANCELLED)
    steps = [step["number"] for step in written(job_id, "step")]
    assert steps == list(range(1, len(steps) + 1))
