"""Rows that somebody else holds keep nobody waiting but those who want them."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db.models import F

from events.models import Event
from tests.locks import wait_until_blocked
from tests.service import database_url
from tests.stopwatch import Stopwatch
from tests.worker import Worker
from work.jobs.models import Job
from work.jobs.tests import handlers
from work.jobs.tests.queueing import cancel, new_job, new_job_without_message, wait_until, written

pytestmark = pytest.mark.usefixtures("committed")

# About two seconds of them.
STEPS = 30
# No worker knows it.
KIND = "tests.locked_rows"


@pytest.mark.parametrize("table", ["events_stream", "jobs_job"])
def test_a_job_whose_stream_nobody_holds_goes_on_writing(worker: Worker, table: str) -> None:
    stuck, free = new_job(handlers.ENDLESS), new_job(handlers.ENDLESS)
    wait_until(lambda: "step" in written(stuck) and "step" in written(free))

    with psycopg.connect(database_url()) as holder, Stopwatch() as watch:
        holder.execute(f"SELECT FROM {table} WHERE id = %s FOR UPDATE", (stuck,))
        wait_until_blocked(holder)
        begun = len(written(free))
        wait_until(lambda: len(written(free)) > begun + STEPS)
        meanwhile = written_at(free)[begun:]
        before = len(written(stuck))

    wait_until(lambda: len(written(stuck)) > before + 5)
    cancel(stuck, free)
    longest = max(later - earlier for earlier, later in pairwise(meanwhile))
    assert longest < timedelta(seconds=0.5 + watch.lost)
    for job_id in (stuck, free):
        steps = [step["number"] for step in written(job_id, "step")]
        assert steps == list(range(1, len(steps) + 1))


def test_who_looks_out_for_jobs_passes_over_those_that_another_claims() -> None:
    job_ids = {new_job_without_message(KIND) for _ in range(2)}
    Job.objects.filter(pk__in=job_ids).update(queued_at=F("queued_at") - timedelta(minutes=1))

    with psycopg.connect(database_url()) as one, psycopg.connect(database_url()) as two:
        (first,) = claim_waiting(one)
        (second,) = claim_waiting(two)
        assert {first, second} == job_ids
        assert claim_waiting(two) == []
        one.rollback()
        two.rollback()


def written_at(job_id: UUID) -> list[datetime]:
    return list(
        Event.objects.filter(stream_id=job_id).order_by("seq").values_list("created_at", flat=True)
    )


def claim_waiting(connection: psycopg.Connection[Any]) -> list[UUID]:
    rows = connection.execute(
        "SELECT id FROM job_claim_waiting('{interactive}', %s, %s, '5 s', 1)", ([KIND], uuid4())
    )
    return [row[0] for row in rows]
