"""The fence: an attempt that has lost its job to the next one writes nothing."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.db import connection
from django.db.models.functions import Now

from billing.tests import bank
from events.types import NewEvent
from work.jobs.appends import Append
from work.jobs.executor import UNANSWERED
from work.jobs.models import Job
from work.jobs.tests.queueing import job_of, new_job_without_message, written

pytestmark = pytest.mark.django_db

# No worker knows it.
KIND = "tests.fence"


@pytest.mark.parametrize("function", ["job_append", "job_append_alone"])
def test_an_attempt_whose_job_was_claimed_again_writes_nothing(function: str) -> None:
    owner, job_id = bank.live_owner(), new_job_without_message(KIND)
    assert claim(owner, job_id) == 1
    assert ask("job_put_back(%s, '{}', '0 s')", owner) == job_id
    assert claim(owner, job_id) == 2

    assert append(function, job_id, attempt=1) is False
    assert written(job_id) == []
    assert append(function, job_id, attempt=2) is True
    assert written(job_id) == ["attempt 2"]


def test_a_claim_whose_answer_may_be_on_its_way_is_not_put_back() -> None:
    owner, job_id = bank.live_owner(), new_job_without_message(KIND)
    claim(owner, job_id)
    assert requeue_orphans(owner) == []

    Job.objects.filter(pk=job_id).update(started_at=Now() - UNANSWERED + timedelta(seconds=1))
    assert requeue_orphans(owner) == []
    assert job_of(job_id).status == Job.Status.RUNNING

    Job.objects.filter(pk=job_id).update(started_at=Now() - UNANSWERED)
    assert requeue_orphans(owner) == [job_id]
    assert job_of(job_id).status == Job.Status.QUEUED


def test_a_job_that_its_process_knows_is_not_put_back() -> None:
    owner, known, unknown = bank.live_owner(), *(new_job_without_message(KIND) for _ in range(2))
    for job_id in (known, unknown):
        claim(owner, job_id)

    assert ask("job_put_back(%s, %s, '0 s')", owner, [known]) == unknown

    assert job_of(known).status == Job.Status.RUNNING


def requeue_orphans(owner: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        seconds = UNANSWERED.total_seconds()
        cursor.execute("SELECT job_put_back(%s, '{}', %s * interval '1 s')", (owner, seconds))
        return [job_id for (job_id,) in cursor.fetchall()]


def claim(owner: UUID, job_id: UUID) -> int:
    attempt: int = ask("attempt FROM job_claim(%s, %s, %s)", job_id, [KIND], owner)
    return attempt


def append(function: str, job_id: UUID, *, attempt: int) -> bool | None:
    items = [Append(job_id, attempt, 1, job_id, [NewEvent(f"attempt {attempt}", None)])]
    is_written: bool | None = ask(f"{function}(%s)", msgspec.json.encode(items).decode())
    return is_written


def ask(what: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {what}", parameters)
        return cursor.fetchone()[0]
