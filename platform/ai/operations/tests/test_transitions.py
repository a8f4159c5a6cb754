"""The state machine of an operation, with every order of outcomes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ai.inference.errors import ResultUnusable
from ai.operations.errors import OperationCancelled, SubmissionLost
from ai.operations.transitions import CLOSING, JITTER, MAX_ADVICE, MAX_UNKNOWNS, after, next_step
from ai.operations.types import (
    CancelAsked,
    Continue,
    End,
    Fetched,
    Operation,
    Outcome,
    Refused,
    State,
    Step,
    TurnedAway,
    Unanswered,
    Unusable,
)
from ai.providers.errors import AnswerUnusable, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.operations import Accepted, Cancelled, Failed, Pending, Succeeded, Unknown

BEGIN = datetime(2026, 11, 23, tzinfo=UTC)
DEADLINE = BEGIN + timedelta(minutes=10)
PLANNED = Operation(state=State.PLANNED, deadline_at=DEADLINE)
LOST = UpstreamError("The answer was lost.", retryable=False)
EMPTY = AnswerUnusable("The provider sent no picture.")
AWAY = UpstreamError("Too many requests.", retry_after=7)

POSSIBLE: dict[Step, list[Outcome]] = {
    Step.SUBMIT: [
        Accepted("op-1"),
        TurnedAway(AWAY),
        Refused(RequestRefused("No.", blocked=True)),
        Refused(ProviderUnavailable("quota")),
        Unanswered(LOST),
        Unanswered(EMPTY),
    ],
    Step.POLL: [
        Pending(0.5),
        Pending(poll_after=10_000.0),
        Succeeded(("https://provider/1",)),
        Failed("It failed."),
        Failed("Not allowed.", blocked=True),
        Cancelled(),
        Unknown(),
        Unanswered(LOST),
        Unanswered(ProviderUnavailable("key")),
    ],
    Step.CANCEL: [CancelAsked(), Unanswered(LOST)],
    Step.FETCH: [Fetched(["1.png"]), Unusable("It is empty."), Unknown(), Unanswered(LOST)],
}
VERDICTS = (Refused, Failed, Cancelled, Fetched, Unusable)


def following(operation: Operation, outcome: Outcome, now: datetime = BEGIN) -> Continue | End:
    return after(operation, outcome, now, chance=0.0)


@given(st.data())
def test_every_course_ends_and_submits_once(data: st.DataObject) -> None:
    operation, now, begun, known = PLANNED, BEGIN, False, ""
    while True:
        if data.draw(st.booleans(), label="cancel"):
            operation = replace(operation, is_cancelled=True)
        step = next_step(operation, now)
        if isinstance(step, End):
            end, outcome = step, None
            break
        if step is Step.SUBMIT:
            assert not begun, "it may have been submitted before"
            operation = replace(operation, state=State.SUBMITTING, submitted_at=now)
        assert now < DEADLINE + CLOSING
        outcome = data.draw(st.sampled_from(POSSIBLE[step]), label=step)
        begun = begun or (step is Step.SUBMIT and not isinstance(outcome, TurnedAway))
        follows = after(operation, outcome, now, chance=data.draw(st.floats(0, 1)))
        if isinstance(follows, End):
            end = follows
            break
        operation = follows.operation
        known = known or operation.provider_id
        assert operation.provider_id == known
        assert (operation.result is None) or operation.state in (
            State.FETCHING,
            State.RUNNING,
            State.CANCELLING,
        )
        if follows.seconds is not None:
            assert 0 < follows.seconds <= MAX_ADVICE * (1 + JITTER)
            # Time passes faster than in life, or a course would have a thousand steps.
            now += timedelta(seconds=follows.seconds + data.draw(st.sampled_from([0, 60, 300])))
    _check_end(end, operation, outcome, begun=begun)


def _check_end(end: End, operation: Operation, outcome: Outcome | None, *, begun: bool) -> None:
    assert (end.status == "completed") == isinstance(outcome, Fetched)
    assert (end.failure is None) == (end.status == "completed")
    if end.status == "cancelled":
        assert operation.is_cancelled
    if isinstance(outcome, VERDICTS):
        assert end.is_unreconciled == isinstance(outcome, Unusable)
    else:
        # No verdict: the deadline has passed, or the provider does not know it.
        assert end.is_unreconciled == begun


def test_an_answer_of_no_use_is_told_from_one_that_is_lost() -> None:
    submitting = replace(PLANNED, state=State.SUBMITTING, submitted_at=BEGIN)

    empty = after(submitting, Unanswered(EMPTY), BEGIN, chance=0)
    lost = after(submitting, Unanswered(LOST), BEGIN, chance=0)

    assert isinstance(empty, End)
    assert isinstance(empty.failure, ResultUnusable)
    assert isinstance(lost, Continue)
    end = next_step(lost.operation, BEGIN)
    assert isinstance(end, End)
    assert isinstance(end.failure, SubmissionLost)
    assert empty.is_unreconciled
    assert end.is_unreconciled


def test_a_cancelled_order_with_an_answer_of_no_use_is_cancelled() -> None:
    submitting = replace(PLANNED, state=State.SUBMITTING, is_cancelled=True)

    end = after(submitting, Unanswered(EMPTY), BEGIN, chance=0)

    assert isinstance(end, End)
    assert isinstance(end.failure, OperationCancelled)


def test_nothing_is_submitted_after_the_deadline() -> None:
    end = next_step(PLANNED, DEADLINE)

    assert isinstance(end, End)
    assert (end.status, end.is_unreconciled) == ("failed", False)


def test_what_runs_at_the_deadline_is_cancelled_at_the_provider() -> None:
    running = replace(PLANNED, state=State.RUNNING, provider_id="op-1")

    assert next_step(running, DEADLINE) is Step.CANCEL
    assert next_step(running, DEADLINE - timedelta(seconds=1)) is Step.POLL


def test_one_that_was_asked_to_cancel_is_polled_for_its_verdict() -> None:
    asked = replace(PLANNED, state=State.CANCELLING, provider_id="op-1", is_cancelled=True)

    assert next_step(asked, BEGIN) is Step.POLL


def test_the_verdict_is_asked_for_where_a_provider_refuses_to_cancel() -> None:
    operation = replace(PLANNED, state=State.RUNNING, provider_id="op-1", is_cancelled=True)
    steps = []
    for _ in range(8):
        step = next_step(operation, BEGIN)
        steps.append(step)
        follows = following(operation, Unanswered(LOST) if step is Step.CANCEL else Pending())
        assert isinstance(follows, Continue)
        operation = follows.operation

    assert steps == [Step.CANCEL, Step.CANCEL, Step.CANCEL, Step.POLL] * 2


@pytest.mark.parametrize(("age", "pause"), [(0, 2.0), (60, 6.0), (3600, 15.0)])
def test_polls_become_rarer(age: float, pause: float) -> None:
    running = replace(PLANNED, state=State.RUNNING, provider_id="op-1", submitted_at=BEGIN)

    follows = following(running, Pending(), BEGIN + timedelta(seconds=age))

    assert isinstance(follows, Continue)
    assert follows.seconds == pause


def test_a_provider_says_when_to_come_again() -> None:
    running = replace(PLANNED, state=State.RUNNING, provider_id="op-1")

    for outcome in (Pending(poll_after=40.0), Unanswered(UpstreamError("Busy.", retry_after=40.0))):
        follows = following(running, outcome)
        assert isinstance(follows, Continue)
        assert follows.seconds == 40.0


def test_failed_polls_come_further_apart_until_one_is_answered() -> None:
    running = replace(PLANNED, state=State.RUNNING, provider_id="op-1")
    pauses = []
    for _ in range(8):
        follows = following(running, Unanswered(LOST))
        assert isinstance(follows, Continue)
        pauses.append(follows.seconds)
        running = follows.operation

    answered = following(running, Pending())

    assert pauses == [1, 2, 4, 8, 15, 30, 30, 30]
    assert isinstance(answered, Continue)
    assert answered.operation.failures == 0


@pytest.mark.parametrize("state", [State.RUNNING, State.FETCHING])
def test_that_it_is_unknown_is_believed_when_it_is_said_again_and_again(state: State) -> None:
    operation = replace(PLANNED, state=state, provider_id="op-1")
    for _ in range(MAX_UNKNOWNS - 1):
        follows = following(operation, Unknown())
        assert isinstance(follows, Continue)
        operation = follows.operation

    end = following(operation, Unknown())

    assert isinstance(end, End)
    assert (end.status, end.is_unreconciled) == ("failed", True)


def test_an_answer_in_between_makes_it_known_again() -> None:
    operation = replace(PLANNED, state=State.RUNNING, provider_id="op-1", unknowns=MAX_UNKNOWNS - 1)

    follows = following(operation, Pending())

    assert isinstance(follows, Continue)
    assert follows.operation.unknowns == 0


def test_a_result_whose_link_is_always_expired_is_given_up() -> None:
    """Each poll says that it has succeeded, and each fetch that its link does not work."""
    operation = replace(PLANNED, state=State.RUNNING, provider_id="op-1")
    for _ in range(MAX_UNKNOWNS - 1):
        for outcome in (Succeeded(("https://example.com/a.mp4",)), Unknown()):
            follows = following(operation, outcome)
            assert isinstance(follows, Continue)
            operation = follows.operation
    fetching = following(operation, Succeeded(("https://example.com/a.mp4",)))
    assert isinstance(fetching, Continue)

    end = following(fetching.operation, Unknown())

    assert isinstance(end, End)
    assert (end.status, end.is_unreconciled) == ("failed", True)
