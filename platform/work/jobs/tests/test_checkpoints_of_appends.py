"""What a job writes to its stream is saved for billing in the same transaction."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import msgspec
import pytest

from accounts.models import User
from billing.services import balance
from billing.tests import bank
from billing.types import Checkpoint
from events.types import NewEvent
from tests.locks import wait_until_blocked
from work.jobs.appends import Append
from work.jobs.models import Job
from work.jobs.tests.queueing import new_job_without_message, written

pytestmark = pytest.mark.usefixtures("committed")

# No worker knows it.
KIND = "tests.checkpoints"


@pytest.mark.parametrize("function", ["job_append", "job_append_alone"])
def test_whoever_dies_after_it_is_billed_for_what_is_shown(function: str) -> None:
    job_id = running_job()

    assert append(
        function, job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40)
    ) == [True]
    assert append(
        function, job_id, 2, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 9}, 60)
    ) == [True]
    bank.expire(job_id)

    charge = bank.charge_of(job_id)
    assert (charge.status, charge.tokens_in, charge.tokens_out, charge.cost) == (
        "expired",
        5,
        9,
        60,
    )
    assert charge.charge_balance == 120
    assert written(job_id) == ["text 1", "text 2"]


def test_one_that_is_sent_again_is_saved_once() -> None:
    job_id = running_job()
    append("job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40))
    append("job_append", job_id, 2, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 9}, 60))
    assert append(
        "job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40)
    ) == [True]
    assert bank.charge_of(job_id).cost == 60
    assert written(job_id) == ["text 1", "text 2"]
    bank.release(job_id)


def test_a_checkpoint_that_comes_late_takes_nothing_back() -> None:
    """Two connections save the progress of a call: neither waits for the other."""
    for late in ("an append", "the call's own"):
        job_id = running_job()
        owner = bank.charge_of(job_id).owner_id
        if late == "an append":
            bank.checkpoint(owner, job_id, 60, 9)
            assert append(
                "job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40)
            ) == [True]
        else:
            assert append(
                "job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 9}, 60)
            ) == [True]
            bank.checkpoint(owner, job_id, 40, 7)
        bank.expire(job_id)
        charge = bank.charge_of(job_id)
        assert (charge.tokens_out, charge.cost, charge.charge_balance) == (9, 60, 120), late


def test_without_a_checkpoint_the_charge_stays_as_it_is() -> None:
    job_id = running_job()
    assert append("job_append", job_id, 1, None) == [True]
    assert bank.charge_of(job_id).first_output_at is None
    bank.release(job_id)


def test_what_a_lost_job_would_show_is_not_saved() -> None:
    job_id = running_job()
    Job.objects.filter(pk=job_id).update(status=Job.Status.FAILED)
    assert append(
        "job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40)
    ) == [False]
    assert bank.charge_of(job_id).cost == 0
    bank.release(job_id)


def test_a_charge_that_was_ended_is_not_changed() -> None:
    job_id = running_job()
    bank.settle(job_id, 50)
    append("job_append", job_id, 1, Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 60))
    assert bank.charge_of(job_id).cost == 50


def test_nothing_is_shown_while_somebody_ends_the_charge() -> None:
    """Whoever ends it would not bill it. The append waits, and finds the job ended."""
    job_id = running_job()
    saved = Checkpoint(job_id, {"tokens_in": 5, "tokens_out": 7}, 40)
    with bank.other_connection() as other, ThreadPoolExecutor(1) as thread:
        other.execute("BEGIN")
        other.execute("SELECT * FROM money_expire(%s)", (job_id,))
        assert append("job_append", job_id, 1, saved) == [None]
        waiting = thread.submit(append, "job_append_alone", job_id, 1, saved)
        wait_until_blocked(other)
        other.execute("UPDATE jobs_job SET status = 'failed' WHERE id = %s", (job_id,))
        other.execute("COMMIT")
        assert waiting.result(timeout=10) == [False]
    assert written(job_id) == []
    assert bank.charge_of(job_id).status == "released"


def running_job() -> UUID:
    """A job that a process runs, whose call is held for under the same id."""
    job_id, owner = new_job_without_message(KIND), bank.live_owner()
    account = User.objects.get(pk=Job.objects.get(pk=job_id).account_id)
    balance.topup(operation_id=owner, account=account, amount=1_000)
    bank.run("SELECT count(*) FROM job_claim(%s, %s, %s)", job_id, [KIND], owner)
    verdict, _ = bank.hold(account, 100, owner=owner, charge=job_id)
    assert verdict == "held"
    return job_id


def append(
    function: str, job_id: UUID, number: int, checkpoint: Checkpoint | None
) -> list[bool | None]:
    """As another process does."""
    items = [Append(job_id, 1, number, job_id, [NewEvent(f"text {number}", None)], checkpoint)]
    with bank.other_connection() as process:
        rows = process.execute(f"SELECT {function}(%s)", (msgspec.json.encode(items).decode(),))
        return [row[0] for row in rows.fetchall()]
