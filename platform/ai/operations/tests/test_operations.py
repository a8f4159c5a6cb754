"""Operations of a provider, from the order to the end, carried out by a real worker."""

from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from ai.operations.models import Operation
from ai.operations.tests.ordering import (
    end_of,
    operation_of,
    order,
    submissions,
    wait_for_state,
)
from ai.operations.tests.renderer import NUSD_PER_SECOND
from ai.operations.transitions import CLOSING
from ai.operations.types import State
from billing.tests import bank
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.worker import Worker
from work.jobs.tests.queueing import cancel, job_of

pytestmark = pytest.mark.usefixtures("committed")

SECONDS = 5
# What the simulator says that it costs.
COST = SECONDS * NUSD_PER_SECOND // 2


@pytest.fixture
def alice() -> User:
    return new_user("alice", plan="max", balance_usd=5)


class Case(NamedTuple):
    """How the simulator is steered, and how the operation ends."""

    steering: str
    status: str
    code: str | None = None
    submissions: tuple[str, ...] = ("completed",)
    is_unreconciled: bool = False
    request: dict[str, Any] = {}


CASES = {
    "it succeeds": Case("", "completed"),
    "it takes a while": Case('"polls": 4', "completed"),
    "it fails": Case('"finish": "failed"', "failed", "upstream_error", ("failed",)),
    "moderation stops it": Case('"blocked": true', "failed", "content_blocked", ("blocked",)),
    "the submission is refused": Case('"status": 422', "failed", "invalid_body", ("refused",)),
    "the submission is turned away at first": Case(
        '"status": 503, "times": 1', "completed", submissions=("refused", "completed")
    ),
    "the answer to the submission is lost": Case(
        '"drop": true, "times": 1', "failed", "upstream_error", ("drop",), is_unreconciled=True
    ),
    "the answer to the submission does not come in time": Case(
        '"hang": true, "times": 1',
        "failed",
        "upstream_error",
        ("client_gone",),
        is_unreconciled=True,
        request={"submission_seconds": 0.5},
    ),
    "the answer to the submission is no JSON": Case(
        '"bad_json": true, "times": 1',
        "failed",
        "upstream_error",
        ("running",),
        is_unreconciled=True,
    ),
    "polls fail": Case('"status": 500, "at": ["poll"], "times": 2', "completed"),
    "our key is refused while it runs": Case(
        '"status": 401, "at": ["poll"], "times": 1', "completed"
    ),
    "polls find nothing at first": Case('"status": 404, "at": ["poll"], "times": 2', "completed"),
    "polls are cut off": Case('"drop": true, "at": ["poll"], "times": 1', "completed"),
    "its result cannot be fetched at first": Case(
        '"status": 503, "at": ["file"], "times": 1', "completed"
    ),
    "the URL of its result has expired": Case(
        '"status": 404, "at": ["file"], "times": 1', "completed"
    ),
    "its result is not what was ordered": Case(
        '"no_picture": true', "failed", "upstream_error", is_unreconciled=True
    ),
    "the deadline passes in the queue": Case(
        "", "failed", "upstream_error", (), request={"total_seconds": 0.0}
    ),
    "the deadline passes while it runs": Case(
        '"polls": 1000', "failed", "upstream_error", ("cancelled",), request={"total_seconds": 3.0}
    ),
}


@pytest.fixture(scope="module")
def ordered(worker: Worker) -> dict[str, tuple[User, UUID]]:
    """All of them at once: each waits for its provider, and none for another."""
    people = {name: new_user("alice", plan="max", balance_usd=5) for name in CASES}
    return {
        name: (people[name], order(people[name], case.steering, **case.request))
        for name, case in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_it_ends_once_and_is_billed_for_what_was_delivered(
    ordered: dict[str, tuple[User, UUID]], simulator: RunningSimulator, name: str
) -> None:
    case, (alice, operation_id) = CASES[name], ordered[name]

    end = end_of(operation_id)

    is_completed = case.status == "completed"
    assert (end["status"], end["error"] and end["error"]["code"]) == (case.status, case.code)
    assert bool(end["outputs"]) == is_completed
    assert tuple(submissions(simulator, operation_id)) == case.submissions
    operation = operation_of(operation_id)
    assert (operation.state, operation.is_unreconciled) == ("ended", case.is_unreconciled)
    charge = bank.charge_of(operation_id)
    assert charge.status == ("settled" if is_completed else "released")
    assert charge.cost == (COST if is_completed else 0)
    assert bank.wallet_of(alice).held == 0


def test_one_that_runs_is_cancelled_at_the_provider(
    worker: Worker, alice: User, simulator: RunningSimulator
) -> None:
    operation_id = order(alice, '"polls": 1000')
    wait_for_state(operation_id, State.RUNNING)

    assert cancel(operation_id) == set()

    assert end_of(operation_id)["status"] == "cancelled"
    assert submissions(simulator, operation_id) == ["cancelled"]
    assert bank.charge_of(operation_id).status == "released"


def test_one_that_was_cancelled_too_late_is_delivered_and_billed(
    worker: Worker, alice: User, simulator: RunningSimulator
) -> None:
    operation_id = order(alice, '"polls": 8, "at": ["cancel"], "finish": "uncancellable"')
    wait_for_state(operation_id, State.RUNNING)

    cancel(operation_id)

    assert end_of(operation_id)["status"] == "completed"
    assert submissions(simulator, operation_id) == ["completed"]
    assert bank.charge_of(operation_id).cost == COST


def test_one_whose_provider_cannot_cancel_is_billed_if_it_succeeds(
    worker: Worker, alice: User
) -> None:
    operation_id = order(alice, '"polls": 8', can_cancel=False)
    wait_for_state(operation_id, State.RUNNING)

    cancel(operation_id)

    assert end_of(operation_id)["status"] == "completed"
    assert bank.charge_of(operation_id).cost == COST


def test_a_cancellation_that_fails_is_repeated(
    worker: Worker, alice: User, simulator: RunningSimulator
) -> None:
    operation_id = order(alice, '"polls": 1000, "at": ["cancel"], "status": 500, "times": 1')
    wait_for_state(operation_id, State.RUNNING)

    cancel(operation_id)

    assert end_of(operation_id)["status"] == "cancelled"
    assert submissions(simulator, operation_id) == ["cancelled"]


def test_one_whose_cancellation_is_always_refused_is_delivered_and_billed(
    worker: Worker, alice: User, simulator: RunningSimulator
) -> None:
    operation_id = order(
        alice, '"polls": 2, "finish": "uncancellable", "at": ["cancel"], "status": 403'
    )
    wait_for_state(operation_id, State.RUNNING)

    cancel(operation_id)

    assert end_of(operation_id, seconds=40)["status"] == "completed"
    assert submissions(simulator, operation_id) == ["completed"]
    assert bank.charge_of(operation_id).cost == COST


def test_a_copy_ends_before_the_hold_lapses(worker: Worker, alice: User) -> None:
    operation_id = order(alice, '"hang": true, "at": ["file"], "finish": "uncancellable"')
    wait_for_state(operation_id, State.RUNNING)
    over_at = timezone.now() + timedelta(seconds=6)
    Operation.objects.filter(pk=operation_id).update(deadline_at=over_at - CLOSING)

    end = end_of(operation_id)

    assert (end["status"], operation_of(operation_id).is_unreconciled) == ("failed", True)
    ended_at = job_of(operation_id).ended_at
    assert ended_at is not None
    # The copy alone would wait 30 s for the provider.
    assert ended_at - over_at < timedelta(seconds=15)
    assert bank.charge_of(operation_id).status == "released"


def test_one_that_nobody_has_begun_is_cancelled_at_once(
    alice: User, simulator: RunningSimulator
) -> None:
    with transaction.atomic():
        # No worker sees it before it is cancelled.
        operation_id = order(alice)
        assert cancel(operation_id) == {operation_id}

    assert submissions(simulator, operation_id) == []
    bank.release(operation_id)
