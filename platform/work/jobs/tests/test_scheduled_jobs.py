"""Jobs that wait for something outside: scheduled by their attempt, and continued by any worker."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone

from work.jobs import services
from work.jobs.lost import MAX_LOSSES
from work.jobs.models import Job
from work.jobs.tests.queueing import cancel, job_of, new_job_without_message, pause, status_of

pytestmark = pytest.mark.usefixtures("committed")

# No worker knows it.
KIND = "tests.scheduled"


@pytest.fixture
def job_id() -> UUID:
    """A job whose first attempt has scheduled it for later; the only one of its kind."""
    Job.objects.filter(kind=KIND).delete()
    job_id = new_job_without_message(KIND)
    _rows("SELECT * FROM job_claim(%s, %s, %s)", job_id, [KIND], uuid4())
    assert schedule(job_id, seconds=3600)
    return job_id


def schedule(job_id: UUID, *, attempt: int = 1, seconds: float = 0) -> bool:
    [(is_scheduled,)] = _rows("SELECT job_schedule(%s, %s, %s)", job_id, attempt, seconds)
    return bool(is_scheduled)


def claim_due(owner_id: UUID | None = None) -> dict[UUID, tuple[int, str]]:
    """The attempt and the signal of each job that was due."""
    sql = "SELECT id, attempt, signal FROM job_claim_due('{interactive}', %s, %s, 1000, 1)"
    rows = _rows(sql, [KIND], owner_id or uuid4())
    return {job_id: (attempt, signal) for job_id, attempt, signal in rows}


def make_due(job_id: UUID) -> None:
    Job.objects.filter(pk=job_id).update(due_at=timezone.now())


def test_it_is_claimed_when_it_is_due_and_not_before(job_id: UUID) -> None:
    assert job_id not in claim_due()

    make_due(job_id)

    assert claim_due()[job_id] == (2, "")
    assert job_id not in claim_due()


def test_it_is_no_queued_job(job_id: UUID) -> None:
    make_due(job_id)

    sql = "SELECT id FROM job_claim_waiting('{interactive}', %s, %s, '0 s', 1000)"
    assert (job_id,) not in _rows(sql, [KIND], uuid4())
    assert _rows("SELECT id FROM job_claim(%s, %s, %s)", job_id, [KIND], uuid4()) == []


def test_the_longest_due_comes_first(job_id: UUID) -> None:
    make_due(job_id)
    later = new_job_without_message(KIND)
    _rows("SELECT * FROM job_claim(%s, %s, %s)", later, [KIND], uuid4())
    schedule(later)

    sql = "SELECT id FROM job_claim_due('{interactive}', %s, %s, 1, 1)"
    claimed = [_rows(sql, [KIND], uuid4())[0][0] for _ in range(2)]

    assert claimed == [job_id, later]


def test_an_earlier_attempt_schedules_nothing(job_id: UUID) -> None:
    make_due(job_id)
    claim_due()

    assert not schedule(job_id, attempt=1)
    assert status_of(job_id) == Job.Status.RUNNING


def test_its_cancellation_is_left_to_its_handler_and_makes_it_due(job_id: UUID) -> None:
    assert cancel(job_id) == set()

    assert status_of(job_id) == Job.Status.SCHEDULED
    assert claim_due()[job_id] == (2, "cancel")


def test_one_that_was_asked_to_cancel_before_is_not_made_due_again(job_id: UUID) -> None:
    cancel(job_id)
    claim_due()
    schedule(job_id, attempt=2, seconds=3600)

    cancel(job_id)

    assert job_id not in claim_due()


def test_a_pause_is_told_to_the_next_attempt(job_id: UUID) -> None:
    assert pause(job_id) == set()

    make_due(job_id)

    assert claim_due()[job_id] == (2, "pause")


def test_a_claim_whose_reply_was_lost_leaves_it_scheduled(job_id: UUID) -> None:
    """In the queue, a cancellation would end it at once, and leave what it has begun outside."""
    owner_id = uuid4()
    make_due(job_id)
    claim_due(owner_id)

    requeue_orphans = _rows("SELECT * FROM job_put_back(%s, '{}'::uuid[], '0 s')", owner_id)

    assert requeue_orphans == [(job_id,)]
    assert job_id in claim_due()


def test_it_continues_after_losses_until_there_are_too_many_in_a_row(job_id: UUID) -> None:
    attempt = 1
    for _ in range(MAX_LOSSES):
        make_due(job_id)
        attempt = claim_due()[job_id][0]
        assert _continue_later(job_id, attempt)
    make_due(job_id)
    attempt = claim_due()[job_id][0]

    assert not _continue_later(job_id, attempt)
    assert schedule(job_id, attempt=attempt)
    assert job_of(job_id).losses == 0


def test_one_that_was_asked_to_cancel_continues_after_a_loss(job_id: UUID) -> None:
    cancel(job_id)
    claim_due()

    assert _continue_later(job_id, 2)

    assert claim_due()[job_id] == (3, "cancel")


def _continue_later(job_id: UUID, attempt: int) -> bool:
    return services.continue_later(
        job_id=job_id, attempt=attempt, max_losses=MAX_LOSSES, seconds=-timedelta(1).total_seconds()
    )


def _rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
