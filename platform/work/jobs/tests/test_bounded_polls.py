"""Due jobs of one provider: all workers together continue only so many in a second."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from common.ids import uuid7
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed")

# No worker knows it.
KIND = "tests.bounded"
PER_SECOND = 5
# More than is ever there.
ROOM = 1000


@pytest.fixture(autouse=True)
def _no_others(committed: None) -> Iterator[None]:
    yield
    Job.objects.filter(kind=KIND).delete()


def due(provider: str, count: int) -> list[UUID]:
    """Jobs that have begun at a provider a while ago and are due, the longest due first."""
    alice, now = new_user("alice"), timezone.now()
    jobs = Job.objects.bulk_create(
        Job(
            id=uuid7(),
            kind=KIND,
            account=alice,
            queue=Job.Queue.INTERACTIVE,
            provider=provider,
            status=Job.Status.SCHEDULED,
            attempt=1,
            due_at=now - timedelta(seconds=count - number),
            started_at=now - timedelta(minutes=1),
        )
        for number in range(count)
    )
    return [job.pk for job in jobs]


def claim(room: int = ROOM) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM job_claim_due('{interactive}', %s, %s, %s, %s)",
            ([KIND], uuid4(), room, PER_SECOND),
        )
        return [row[0] for row in cursor.fetchall()]


def let_pass(seconds: float) -> None:
    """Let the claims be so much older."""
    begun = Job.objects.filter(kind=KIND)
    begun.update(started_at=F("started_at") - timedelta(seconds=seconds))


def test_the_longest_due_are_continued_and_the_others_stay_due() -> None:
    jobs = due("runway", 2 * PER_SECOND + 1)

    first, beyond = claim(), claim()
    let_pass(1)
    second = claim()
    let_pass(1)

    assert set(first) == set(jobs[:PER_SECOND])
    assert beyond == []
    assert set(second) == set(jobs[PER_SECOND : 2 * PER_SECOND])
    assert claim() == jobs[-1:]


def test_any_second_counts_and_not_those_of_the_clock() -> None:
    due("runway", 2 * PER_SECOND)
    claim(PER_SECOND - 1)
    let_pass(0.7)

    assert len(claim()) == 1
    let_pass(0.5)
    assert len(claim()) == PER_SECOND - 1


def test_a_provider_does_not_take_the_place_of_another() -> None:
    runway, luma, others = due("runway", ROOM // 20), due("luma", 1), due("", 2 * PER_SECOND)

    assert set(claim()) == {*runway[:PER_SECOND], *luma, *others}


def test_the_room_of_a_worker_bounds_them_all() -> None:
    due("runway", PER_SECOND)
    due("luma", PER_SECOND)

    assert len(claim(room=3)) == 3


def test_workers_that_claim_at_once_share_the_bound() -> None:
    due("runway", 10 * PER_SECOND)

    def claim_elsewhere(_: int) -> int:
        try:
            return len(claim())
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(claim_elsewhere, range(8)))

    assert sum(counts) == PER_SECOND


def test_a_worker_counts_what_another_one_has_not_committed_yet() -> None:
    due("runway", 2 * PER_SECOND)

    def claim_elsewhere() -> list[UUID]:
        try:
            return claim()
        finally:
            connection.close()

    with psycopg.connect(database_url()) as other, ThreadPoolExecutor(1) as pool:
        sql = "SELECT id FROM job_claim_due('{interactive}', %s, %s, %s, %s)"
        claimed = other.execute(sql, ([KIND], uuid4(), ROOM, PER_SECOND)).fetchall()
        waiting = pool.submit(claim_elsewhere)
        wait_until_blocked(other)
        # However long that took, they are of this second.
        later = "UPDATE jobs_job SET started_at = started_at + interval '1 min' WHERE id = ANY (%s)"
        other.execute(later, ([job_id for (job_id,) in claimed],))
        other.commit()
        assert (len(claimed), waiting.result()) == (PER_SECOND, [])


def test_a_submission_is_no_poll() -> None:
    due("runway", PER_SECOND)
    alice = new_user("alice")
    queued = Job.objects.create(
        kind=KIND, account=alice, queue=Job.Queue.INTERACTIVE, provider="runway"
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM job_claim(%s, %s, %s)", (queued.pk, [KIND], uuid4()))

    assert len(claim()) == PER_SECOND
