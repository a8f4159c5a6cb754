"""Jobs that begin in the web process that is asked for them."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

import httpx
import pytest
from django.db.models import F
from pytest_django import DjangoDbBlocker

from billing.models import Charge
from billing.tests import bank
from common.database import get_database
from simulator.process import RunningSimulator
from tests.service import Web, running_web
from work.jobs import claims, services
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.jobs.tests.queueing import cancel, job_of, status_of, wait_for_status, wait_until, written
from work.leases.models import Lease

APPLICATION = "tests.beginner:application"
pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(scope="module")
def beginner(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process that begins whatever job it is asked for."""
    with django_db_blocker.unblock(), running_web(simulator, application=APPLICATION) as web:
        yield web


def begin(web: Web, kind: str, *, action: str = "begin") -> UUID:
    answer = httpx.post(f"{web.url}/{action}/{kind}")
    assert answer.status_code == 201, answer.text
    return UUID(answer.text)


def owner_of(job_id: UUID) -> UUID:
    owner_id = job_of(job_id).owner_id
    assert owner_id is not None
    return owner_id


def test_it_runs_there_at_once_and_ends(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_BRIEF)
    job = job_of(job_id)
    assert (job.status, job.attempt) == (Job.Status.RUNNING, 1)
    assert Lease.objects.get(owner_id=owner_of(job_id)).kind == "web"

    wait_for_status(job_id, Job.Status.COMPLETED)

    assert written(job_id) == ["begun", "completed"]
    assert written(job_id, "begun") == [{"attempt": 1, "pid": beginner.process.pid}]


def test_it_hears_what_its_owner_wants(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_ENDLESS)
    wait_until(lambda: "step" in written(job_id))

    cancel(job_id)

    wait_for_status(job_id, Job.Status.CANCELLED, seconds=3)
    assert written(job_id)[-1] == "cancelled"


@pytest.mark.parametrize("kind", [handlers.BEGUN_RAISING, handlers.BEGUN_FORGETFUL])
def test_what_is_left_running_is_ended_as_lost(beginner: Web, kind: str) -> None:
    job_id = begin(beginner, kind)

    wait_for_status(job_id, Job.Status.FAILED)

    assert written(job_id) == ["begun", "lost"]


def test_who_lost_the_job_stops_and_writes_nothing_more(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_ENDLESS)
    wait_until(lambda: "step" in written(job_id))

    services.end(job_id=job_id, attempt=1, status=Job.Status.FAILED)
    before = written(job_id)

    wait_for_status(begin(beginner, handlers.BEGUN_BRIEF), Job.Status.COMPLETED)
    assert written(job_id) == before


def test_its_call_is_made_under_the_charge_that_was_held_with_it(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_CALLING)
    charge = Charge.objects.get(pk=job_id)
    assert (charge.status, charge.source, charge.request_id) == ("held", "job", "req_test")
    wait_until(lambda: Charge.objects.filter(pk=job_id, units__tokens_out__gt=0).exists())

    assert Charge.objects.filter(account=charge.account_id).count() == 1
    bank.expire(job_id)  # the executor finds out and stops

    wait_for_status(job_id, Job.Status.FAILED)


def test_of_a_killed_process_it_is_ended_as_lost_and_its_call_billed_as_far_as_it_came(
    simulator: RunningSimulator,
) -> None:
    with running_web(simulator, application=APPLICATION) as doomed:
        endless = begin(doomed, handlers.BEGUN_ENDLESS)
        calling = begin(doomed, handlers.BEGUN_CALLING)
        wait_until(lambda: Charge.objects.filter(pk=calling, units__tokens_out__gt=0).exists())
        doomed.kill()
    end_lost_jobs()
    assert status_of(endless) == Job.Status.RUNNING  # its lease is still good
    bank.kill(owner_of(endless))

    end_lost_jobs()
    end_lost_jobs()

    assert (status_of(endless), status_of(calling)) == (Job.Status.FAILED, Job.Status.FAILED)
    assert written(endless)[-1] == "lost"
    assert written(endless).count("lost") == 1
    assert bank.expire(calling) == "resolved"
    charge = Charge.objects.get(pk=calling)
    assert charge.status == "expired"
    assert charge.charge_balance == 2 * charge.cost > 0


def test_it_is_no_workers_to_do(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_BRIEF)
    wait_for_status(job_id, Job.Status.COMPLETED)
    Job.objects.filter(pk=job_id).update(status=Job.Status.QUEUED, queued_at=F("started_at"))

    async def claim() -> int:
        owner, queues = uuid4(), list(Job.Queue)
        try:
            found = await claims.claim(owner, job_id)
            waiting = await claims.claim_waiting(owner, queues, older_than=timedelta(), limit=1_000)
        finally:
            await get_database().close()
        return len(found) + [job.id for job in waiting].count(job_id)

    assert asyncio.run(claim()) == 0
    Job.objects.filter(pk=job_id).update(status=Job.Status.FAILED)


def test_what_began_without_the_process_hearing_of_it_is_ended_as_lost(beginner: Web) -> None:
    job_id = begin(beginner, handlers.BEGUN_BRIEF, action="commit")
    known = begin(beginner, handlers.BEGUN_ENDLESS)

    # As if the time had passed within which every commit is answered.
    both = Job.objects.filter(pk__in=[job_id, known])
    both.update(started_at=F("started_at") - timedelta(seconds=20))

    wait_for_status(job_id, Job.Status.FAILED)
    assert written(job_id) == ["lost"]
    assert status_of(known) == Job.Status.RUNNING
    cancel(known)
    wait_for_status(known, Job.Status.CANCELLED)


def test_none_begins_where_there_is_no_room_for_a_call(simulator: RunningSimulator) -> None:
    full = {"MAX_OPEN_CALLS": "1"}
    with running_web(simulator, application=APPLICATION, **full) as web:
        calling = begin(web, handlers.BEGUN_CALLING)
        wait_until(lambda: Charge.objects.filter(pk=calling, units__tokens_out__gt=0).exists())
        before = Job.objects.count()

        refused = httpx.post(f"{web.url}/begin/{handlers.BEGUN_BRIEF}")

        assert (refused.status_code, refused.text) == (503, "service_unavailable")
        assert Job.objects.count() == before
        bank.expire(calling)
        wait_for_status(calling, Job.Status.FAILED)


def test_a_process_that_is_asked_to_stop_lets_it_end_under_its_lease(
    simulator: RunningSimulator,
) -> None:
    def is_still_kept() -> bool:
        has_lease = Lease.objects.filter(owner_id=owner).exists()
        return not any(status_of(job_id) == Job.Status.RUNNING for job_id in jobs) or has_lease

    with running_web(simulator, application=APPLICATION) as web:
        jobs = [begin(web, handlers.BEGUN_BRIEF) for _ in range(3)]
        owner = owner_of(jobs[0])
        web.process.ask_to_stop()
        while web.process.exit_code is None:
            assert is_still_kept()

    assert all(written(job_id) == ["begun", "completed"] for job_id in jobs)
    assert not Lease.objects.filter(owner_id=owner).exists()


def test_a_call_that_does_not_end_in_time_is_stopped_and_settled_at_what_it_brought(
    simulator: RunningSimulator,
) -> None:
    with running_web(simulator, application=APPLICATION, DRAIN_SECONDS="1") as web:
        job_id = begin(web, handlers.BEGUN_CALLING)
        wait_until(lambda: Charge.objects.filter(pk=job_id, units__tokens_out__gt=0).exists())

    charge = Charge.objects.get(pk=job_id)
    assert (charge.status, status_of(job_id)) == ("settled", Job.Status.FAILED)
    assert 0 < charge.tokens_out < 400
    assert written(job_id) == ["begun", "failed"]
