"""Messages to running jobs: heard soon, used once, whatever process dies."""

from uuid import UUID

import psycopg
import pytest
from django.db import transaction

from billing.tests import bank
from events import inbox
from events.models import Inbox, Stream
from simulator.process import RunningSimulator
from tests.locks import wait_until_blocked
from tests.service import database_url
from tests.worker import running_worker
from work.jobs import services
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.jobs.tests.queueing import (
    cancel,
    job_of,
    new_job,
    new_job_without_message,
    wait_for_status,
    wait_until,
    written,
)

pytestmark = pytest.mark.usefixtures("committed")


@transaction.atomic
def post(job_id: UUID, *bodies: str) -> None:
    """Messages to the job, from its owner."""
    if not Inbox.objects.filter(pk=job_id).exists():
        inbox.open_inbox(stream_id=job_id)
    owner = Stream.objects.get(pk=job_id).account
    for body in bodies:
        inbox.post(stream_id=job_id, sender=owner, body=body)


def heard(job_id: UUID) -> list[str]:
    return [data["body"] for data in written(job_id, "heard")]


def begin() -> UUID:
    """A job that listens to its inbox."""
    job_id = new_job(handlers.LISTENING)
    wait_until(lambda: "begun" in written(job_id))
    return job_id


def test_a_running_job_hears_messages_within_a_second(simulator: RunningSimulator) -> None:
    with running_worker(simulator):
        job_id = begin()

        post(job_id, "Be brief.")
        wait_until(lambda: heard(job_id) == ["Be brief."], seconds=1)
        post(job_id, "In French.", "Now.")
        wait_until(lambda: heard(job_id) == ["Be brief.", "In French.", "Now."], seconds=1)

        cancel(job_id)
        wait_for_status(job_id, Job.Status.CANCELLED)


def test_a_job_hears_what_was_sent_before_it_began(simulator: RunningSimulator) -> None:
    job_id = new_job_without_message(handlers.LISTENING)
    post(job_id, "Be brief.")

    with running_worker(simulator):
        wait_until(lambda: heard(job_id) == ["Be brief."])

        cancel(job_id)
        wait_for_status(job_id, Job.Status.CANCELLED)


def test_a_message_that_a_killed_worker_has_not_used_is_used_once_by_the_next(
    simulator: RunningSimulator,
) -> None:
    with running_worker(simulator) as doomed, psycopg.connect(database_url()) as holder:
        job_id = begin()
        post(job_id, "Be brief.")
        wait_until(lambda: heard(job_id) == ["Be brief."])
        holder.execute("SELECT FROM jobs_job WHERE id = %s FOR UPDATE", (job_id,))
        post(job_id, "In French.")
        wait_until_blocked(holder)
        doomed.kill()
    lost = job_of(job_id)
    assert lost.owner_id is not None
    bank.kill(lost.owner_id)
    end_lost_jobs()
    end_lost_jobs()

    with running_worker(simulator):
        wait_until(lambda: heard(job_id) == ["Be brief.", "In French."])
        cancel(job_id)
        wait_for_status(job_id, Job.Status.CANCELLED)

    assert heard(job_id) == ["Be brief.", "In French."]


def test_an_attempt_that_has_lost_its_job_marks_nothing() -> None:
    job_id = new_job_without_message("tests.unknown")
    post(job_id, "Be brief.")
    Job.objects.filter(pk=job_id).update(status=Job.Status.RUNNING, attempt=2)

    marked = [mark_read(job_id, attempt) for attempt in (1, 2)]

    assert marked == [False, True]
    assert Inbox.objects.get(pk=job_id).read_number == 1


@transaction.atomic
def mark_read(job_id: UUID, attempt: int) -> bool:
    return services.mark_read(job_id=job_id, attempt=attempt, stream_id=job_id, up_to=1)
