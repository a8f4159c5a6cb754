"""The worker is killed in each state of an operation: another one continues from there, the
provider has one order, and what it delivers is billed once."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest

from accounts.models import User
from ai.operations.tests.ordering import (
    end_of,
    operation_of,
    order,
    submissions,
    wait_for_state,
)
from ai.operations.tests.renderer import NUSD_PER_SECOND
from ai.operations.types import State
from billing.tests import bank
from simulator.process import RunningSimulator
from tests.chaos.killing import sweep
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests.queueing import cancel, job_of, wait_until

pytestmark = pytest.mark.usefixtures("committed")

COST = 5 * NUSD_PER_SECOND // 2
# Requests that the provider leaves without an answer, once.
SILENT = '"hang": true, "times": 1, "at": '


def new_alice() -> User:
    return new_user("alice", plan="max", balance_usd=5)


def test_operations_continue_where_a_killed_worker_has_left_them(
    simulator: RunningSimulator,
) -> None:
    alice = new_alice()
    with running_worker(simulator) as doomed, _locked_wallet() as (holder, ending):
        submitting = order(alice, f'{SILENT}["submit"]')
        polled = order(alice, f'{SILENT}["poll"]')
        fetched = order(alice, f'{SILENT}["file"]')
        cancelled = order(alice, f'{SILENT}["cancel"], "polls": 1000')
        between = order(alice, '"polls": 1000')
        wait_for_state(cancelled, State.RUNNING)
        cancel(cancelled)
        # A poll is over in a moment; the request to cancel gets no answer.
        _wait_for_step(cancelled, State.RUNNING)
        _wait_for_step(submitting, State.SUBMITTING)
        _wait_for_step(polled, State.RUNNING)
        _wait_for_step(fetched, State.FETCHING)
        wait_until_blocked(holder)
        doomed.kill()
    queued = order(alice)
    operations = [submitting, polled, fetched, cancelled, between, ending, queued]
    sweep()
    with running_worker(simulator) as doomed:
        # Nobody knows whether it was submitted: it is not submitted again.
        wait_until(lambda: job_of(submitting).ended_at, seconds=30)
        cancel(between)
        doomed.kill()
    sweep()

    with running_worker(simulator):
        ends = {operation_id: end_of(operation_id) for operation_id in operations}

    for operation_id in operations:
        assert len(submissions(simulator, operation_id)) == 1
        is_lost, is_cancelled = operation_id == submitting, operation_id in (cancelled, between)
        status = "failed" if is_lost else "cancelled" if is_cancelled else "completed"
        assert ends[operation_id]["status"] == status
        charge = bank.charge_of(operation_id)
        assert (charge.status, charge.cost) == (
            ("settled", COST) if status == "completed" else ("released", 0)
        )
        assert operation_of(operation_id).is_unreconciled == is_lost
    assert submissions(simulator, between) == ["cancelled"]
    assert bank.wallet_of(alice).held == 0


@contextmanager
def _locked_wallet() -> Iterator[tuple["psycopg.Connection[tuple[object, ...]]", UUID]]:
    """An operation that can be carried out and cannot end, and who has its wallet."""
    bob = new_user("bob", plan="max", balance_usd=5)
    operation_id = order(bob)
    with psycopg.connect(database_url()) as holder:
        holder.execute("SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (bob.pk,))
        yield holder, operation_id


def _wait_for_step(operation_id: UUID, state: State) -> None:
    """Until a worker takes a step of an operation in this state."""

    def is_taken() -> bool:
        is_running = job_of(operation_id).status == Job.Status.RUNNING
        return is_running and operation_of(operation_id).state == state.value

    wait_until(is_taken)
