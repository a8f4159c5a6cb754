"""Whatever is done to jobs, by whoever and in any order: the rows are as a model of them says, an
attempt writes only while it is the one that runs, nothing is written twice, and the hold of a job
is kept as long as the job is open.

How to live through more lives: tests/lives.py.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from msgspec.structs import replace

from accounts.models import User
from billing.models import Charge
from billing.services import reconciliation, sweeps
from billing.services.holds import hold_for_job
from billing.tests import bank, money_functions
from common.ids import uuid7
from events.models import Event
from events.services import open_stream
from tests.lives import RolledBackLife, live_through
from work.jobs import services
from work.jobs.handlers import register
from work.jobs.models import Job
from work.jobs.sweeps import end_lost_jobs
from work.jobs.tests import handlers
from work.leases.models import Lease

# No worker knows it.
KIND = "tests.life"
OWNERS = 2
QUEUED, RUNNING, PAUSED = Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.PAUSED
SCHEDULED = Job.Status.SCHEDULED
ENDS = st.sampled_from([Job.Status.COMPLETED, Job.Status.FAILED, Job.Status.CANCELLED])
PICK = st.integers(min_value=0, max_value=100)
# How many attempts ago the one that writes was the one that ran.
LATE = st.sampled_from([0, 0, 0, 1])
OWNER = st.integers(min_value=0, max_value=OWNERS - 1)
LIMIT = st.integers(min_value=1, max_value=3)


@dataclass
class Model:
    """What a job shall be. `is_due` is None until the job is scheduled."""

    status: str = QUEUED
    signal: str = Job.Signal.NONE
    attempt: int = 0
    appends: int = 0
    losses: int = 0
    owner: UUID | None = None
    is_due: bool | None = None
    charge: str = "held"
    written: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.status in (QUEUED, RUNNING, SCHEDULED, PAUSED)


class Life(RolledBackLife):
    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[UUID, Model] = {}

    @initialize()
    def begin(self) -> None:
        self.alice: User = bank.new_account(balance=1_000_000)
        self.owners = [bank.live_owner() for _ in range(OWNERS)]
        for _ in range(3):
            self.put_in()

    @rule()
    def put_in(self) -> None:
        job_id = uuid7()
        request = money_functions.request(self.alice, 100, owner=job_id)
        hold_for_job(replace(request, charge_id=job_id))
        self.expired()
        open_stream(stream_id=job_id, kind="tests", account=self.alice)
        services.enqueue(job_id=job_id, kind=KIND, account=self.alice)
        self.jobs[job_id] = Model()

    @rule(pick=PICK, owner=OWNER)
    def claim(self, pick: int, owner: int) -> None:
        job_id, job = self.one(pick)
        mine = self.owners[owner]
        rows = ask("SELECT * FROM job_claim(%s, %s, %s)", job_id, [KIND], mine)
        if job.status == QUEUED:
            self.claimed(job, mine)
            assert rows == [(job_id, job.attempt, KIND, self.alice.pk, job.signal)]
        else:
            assert rows == []

    @rule(owner=OWNER, limit=LIMIT)
    def look_out(self, owner: int, limit: int) -> None:
        rows = ask(
            "SELECT id, attempt FROM job_claim_waiting(%s, %s, %s, '0 s', %s)",
            ["interactive"],
            [KIND],
            self.owners[owner],
            limit,
        )
        queued = [job_id for job_id, job in self.jobs.items() if job.status == QUEUED]
        assert len(rows) == min(limit, len(queued))
        for job_id, attempt in rows:
            assert job_id in queued
            self.claimed(self.jobs[job_id], self.owners[owner])
            assert attempt == self.jobs[job_id].attempt

    @rule(pick=PICK, late=LATE, later=st.booleans())
    def schedule(self, pick: int, late: int, later: bool) -> None:
        job_id, job = self.one(pick)
        attempt = job.attempt - late
        is_its = job.status == RUNNING and attempt == job.attempt
        seconds = 3600 * later
        assert ask("SELECT job_schedule(%s, %s, %s)", job_id, attempt, seconds) == [(is_its,)]
        if is_its:
            job.status, job.owner, job.is_due, job.losses = SCHEDULED, None, not later, 0

    @rule(owner=OWNER, limit=LIMIT)
    def claim_due(self, owner: int, limit: int) -> None:
        rows = ask(
            "SELECT id, attempt, signal FROM job_claim_due(%s, %s, %s, %s, 1)",
            ["interactive"],
            [KIND],
            self.owners[owner],
            limit,
        )
        due = [
            job_id for job_id, job in self.jobs.items() if job.status == SCHEDULED and job.is_due
        ]
        assert len(rows) == min(limit, len(due))
        for job_id, attempt, signal in rows:
            assert job_id in due
            job = self.jobs[job_id]
            self.claimed(job, self.owners[owner])
            assert (attempt, signal) == (job.attempt, job.signal)

    @rule(owner=OWNER, pick=PICK)
    def requeue_orphans(self, owner: int, pick: int) -> None:
        """All but one are known."""
        unknown, _ = self.one(pick)
        known = [job_id for job_id in self.jobs if job_id != unknown]
        rows = ask("SELECT job_put_back(%s, %s, '0 s')", self.owners[owner], known)
        job = self.jobs[unknown]
        if job.status == RUNNING and job.owner == self.owners[owner]:
            assert rows == [(unknown,)]
            job.status, job.owner = QUEUED if job.is_due is None else SCHEDULED, None
        else:
            assert rows == []

    @rule(picks=st.lists(st.tuples(PICK, LATE, st.booleans()), min_size=1, max_size=4))
    def append(self, picks: list[tuple[int, int, bool]]) -> None:
        """A batch of some jobs' attempts, among them lost ones, and items that are sent again."""
        items: list[dict[str, Any]] = []
        expected = []
        for pick, late, again in picks:
            job_id, job = self.one(pick)
            if any(item["job"] == str(job_id) for item in items):
                continue
            attempt = job.attempt - late
            number = job.appends if again else job.appends + 1
            text = f"{attempt}.{number}"
            items.append(
                {
                    "job": str(job_id),
                    "attempt": attempt,
                    "number": number,
                    "stream": str(job_id),
                    "events": [{"type": text, "actor": "system", "data": None}],
                }
            )
            is_its = job.status == RUNNING and attempt == job.attempt
            expected.append((is_its,))
            if is_its and not again:
                job.appends = number
                job.written.append(text)
        assert ask("SELECT job_append(%s)", json.dumps(items)) == expected

    @rule(pick=PICK, late=LATE, status=ENDS)
    def end(self, pick: int, late: int, status: Job.Status) -> None:
        job_id, job = self.one(pick)
        attempt = max(0, job.attempt - late)
        is_its = job.status == RUNNING and attempt == job.attempt
        assert services.end(job_id=job_id, attempt=attempt, status=status) == is_its
        if is_its:
            job.status = status

    @rule(pick=PICK)
    def cancel(self, pick: int) -> None:
        job_id, job = self.one(pick)
        cancelled = services.cancel(job_ids=[job_id])
        assert cancelled == ({job_id} if job.status in (QUEUED, PAUSED) else set())
        if cancelled:
            job.status = Job.Status.CANCELLED
        elif job.status in (RUNNING, SCHEDULED):
            if job.status == SCHEDULED and job.signal != Job.Signal.CANCEL:
                job.is_due = True
            job.signal = Job.Signal.CANCEL

    @rule(pick=PICK)
    def pause(self, pick: int) -> None:
        job_id, job = self.one(pick)
        paused = services.pause(job_ids=[job_id])
        assert paused == ({job_id} if job.status == QUEUED else set())
        if paused:
            job.status = PAUSED
        elif job.status in (RUNNING, SCHEDULED) and not job.signal:
            job.signal = Job.Signal.PAUSE

    @rule(pick=PICK)
    def pause_running(self, pick: int) -> None:
        job_id, job = self.one(pick)
        is_parked = job.status == RUNNING and job.signal != Job.Signal.CANCEL
        assert services.pause_running(job_id=job_id, attempt=job.attempt) == is_parked
        if is_parked:
            job.status, job.signal, job.owner = PAUSED, Job.Signal.NONE, None

    @rule(pick=PICK)
    def resume(self, pick: int) -> None:
        job_id, job = self.one(pick)
        assert services.resume(job_ids=[job_id]) == ({job_id} if job.status == PAUSED else set())
        if job.status == PAUSED:
            job.status = QUEUED
        elif job.status in (RUNNING, SCHEDULED) and job.signal == Job.Signal.PAUSE:
            job.signal = Job.Signal.NONE

    @rule(pick=PICK)
    def start_again(self, pick: int) -> None:
        job_id, job = self.one(pick)
        starts = job.status == RUNNING and job.signal != Job.Signal.CANCEL and job.losses < 3
        assert services.start_again(job_id=job_id, attempt=job.attempt, max_losses=3) == starts
        if starts:
            job.status = PAUSED if job.signal == Job.Signal.PAUSE else QUEUED
            job.signal, job.owner = Job.Signal.NONE, None
            job.losses += 1

    @rule(pick=PICK, later=st.booleans())
    def continue_later(self, pick: int, later: bool) -> None:
        job_id, job = self.one(pick)
        continues = job.status == RUNNING and job.losses < 3
        assert continues == services.continue_later(
            job_id=job_id, attempt=job.attempt, max_losses=3, seconds=3600 * later
        )
        if continues:
            job.status, job.owner, job.is_due = SCHEDULED, None, not later
            job.losses += 1

    @rule(owner=OWNER)
    def die(self, owner: int) -> None:
        """A process ends, its jobs are swept, and another one comes."""
        gone = self.owners[owner]
        bank.kill(gone)
        self.owners[owner] = bank.live_owner()
        end_lost_jobs()
        for job in self.jobs.values():
            if job.status == RUNNING and job.owner == gone:
                job.status = Job.Status.FAILED
                job.written.append("lost")

    @rule()
    def sweep(self) -> None:
        sweeps.expire_lapsed_charges()
        self.expired()
        assert reconciliation.find_violations() == []

    @rule(pick=PICK)
    def begin_call(self, pick: int) -> None:
        job_id, job = self.one(pick)
        begins = job.is_open and job.charge == "held"
        assert ask("SELECT charge_begin(%s, %s, 60)", job_id, job_id) == [(begins,)]

    @rule(pick=PICK)
    def settle(self, pick: int) -> None:
        job_id, job = self.one(pick)
        assert bank.settle(job_id, 50) == ("resolved" if job.charge == "held" else "already")
        job.charge = "settled" if job.charge == "held" else job.charge

    @invariant()
    def holds_are_kept_as_long_as_their_jobs(self) -> None:
        charges = Charge.objects.filter(pk__in=self.jobs).values_list("pk", "status")
        assert dict(charges) == {job_id: job.charge for job_id, job in self.jobs.items()}
        leases = Lease.objects.filter(pk__in=self.jobs).values_list("pk", flat=True)
        assert set(leases) == {job_id for job_id, job in self.jobs.items() if job.is_open}

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        rows = {job.pk: job for job in Job.objects.filter(pk__in=self.jobs)}
        for job_id, job in self.jobs.items():
            row = rows[job_id]
            assert (row.status, row.signal, row.attempt) == (job.status, job.signal, job.attempt)
            assert row.owner_id == job.owner
            assert (row.ended_at is not None) == (not job.is_open)

    @invariant()
    def the_streams_hold_what_was_written(self) -> None:
        written: dict[UUID, list[str]] = {job_id: [] for job_id in self.jobs}
        for event in Event.objects.filter(stream_id__in=self.jobs).order_by("seq"):
            written[event.stream_id].append(event.type)
        assert written == {job_id: job.written for job_id, job in self.jobs.items()}

    @invariant()
    def everybody_hears_what_concerns_him(self) -> None:
        attempts = [job.attempt for job in self.jobs.values()]
        inboxes, known = [None for _ in self.jobs], [0 for _ in self.jobs]
        rows = ask(
            "SELECT id, signal, lost FROM job_notices(%s, %s, %s::uuid[], %s)",
            list(self.jobs),
            attempts,
            inboxes,
            known,
        )
        assert {row[0]: row[1:] for row in rows} == {
            job_id: (job.signal if job.status == RUNNING else "", job.status != RUNNING)
            for job_id, job in self.jobs.items()
            if job.status != RUNNING or job.signal
        }

    def one(self, pick: int) -> tuple[UUID, Model]:
        return list(self.jobs.items())[pick % len(self.jobs)]

    def expired(self) -> None:
        """What is held for jobs that have ended has been released."""
        for job in self.jobs.values():
            if not job.is_open and job.charge == "held":
                job.charge = "released"

    def claimed(self, job: Model, owner: UUID) -> None:
        job.status, job.owner, job.appends = RUNNING, owner, 0
        job.attempt += 1


def ask(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@pytest.mark.django_db
def test_lives_of_jobs() -> None:
    register(KIND, handlers.Quick())
    live_through(Life, lives=30, steps=30)
