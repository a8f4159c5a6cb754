"""What happens next in a run, decided without a database."""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from projects.decisions import (
    Accept,
    Action,
    FailSubtask,
    Finish,
    GiveUpReply,
    Pause,
    Refusal,
    RunState,
    Skip,
    Slot,
    Start,
    SubtaskState,
    decide,
)
from projects.types import (
    MAX_TRIES,
    AttemptReason,
    PauseReason,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)

WORK, REVIEW, FINAL = StepKind.WORK, StepKind.REVIEW, StepKind.FINAL
QUEUED, RUNNING = SubtaskStatus.QUEUED, SubtaskStatus.RUNNING
COMPLETED, FAILED = SubtaskStatus.COMPLETED, SubtaskStatus.FAILED
# A slot in which all tries have failed.
HOPELESS = Slot(failed_try=MAX_TRIES)


def subtask(number: int, *depends_on: int, **fields: object) -> SubtaskState:
    names = tuple(str(each) for each in depends_on)
    state = SubtaskState(id=UUID(int=number), key=str(number), depends_on=names)
    return replace(state, **fields)


def run(*subtasks: SubtaskState, **fields: object) -> RunState:
    state = RunState(status=RunStatus.RUNNING, subtasks=subtasks, max_parallel=4)
    return replace(state, **fields)


def begun(number: int, reason: AttemptReason = AttemptReason.INITIAL) -> Start:
    return Start(WORK, UUID(int=number), reason)


# --- The plan -------------------------------------------------------------------------------------


def test_a_run_begins_with_its_plan() -> None:
    queued = run(subtasks=None, status=RunStatus.QUEUED)
    assert decide(queued) == [Start(StepKind.PLAN)]
    assert decide(replace(queued, active=frozenset({(StepKind.PLAN, None)}))) == []


def test_an_answer_that_is_no_plan_is_repaired() -> None:
    assert decide(run(subtasks=None, bad_plans=1)) == [Start(StepKind.REPAIR)]


def test_a_plan_that_its_user_wants_to_see_waits() -> None:
    assert decide(run(subtask(1), needs_approval=True)) == [Pause(PauseReason.PLAN_REVIEW)]


# --- Subtasks -------------------------------------------------------------------------------------


def test_what_depends_on_nothing_begins_at_once_and_no_more_than_may_run_together() -> None:
    many = [subtask(number) for number in range(6)]
    assert decide(run(*many)) == [begun(number) for number in range(4)]
    assert decide(run(*many, max_parallel=1)) == [begun(0)]


def test_a_subtask_waits_for_all_that_it_depends_on() -> None:
    done, busy = subtask(1, status=COMPLETED), subtask(2, status=RUNNING)
    active = frozenset({(WORK, busy.id)})
    assert decide(run(done, busy, subtask(3, 1, 2), active=active)) == []
    assert decide(run(done, replace(busy, status=COMPLETED), subtask(3, 1, 2))) == [begun(3)]


def test_a_result_is_reviewed_before_it_is_accepted() -> None:
    written = subtask(1, status=RUNNING, result=True)
    assert decide(run(written)) == [Start(REVIEW, written.id)]
    assert decide(run(written, reviews=False)) == [Accept(written.id), Finish()]


def test_a_review_may_ask_for_two_revisions() -> None:
    faulty = subtask(1, status=RUNNING, result=True, verdict=Verdict.REVISE)
    again = [begun(1, AttemptReason.REVISION)]
    assert decide(run(faulty)) == decide(run(replace(faulty, revisions=1))) == again
    ends = [Accept(faulty.id, needs_attention=True), Finish()]
    assert decide(run(replace(faulty, revisions=2))) == ends


def test_a_result_of_which_a_part_could_not_be_used_needs_attention() -> None:
    praised = subtask(1, status=RUNNING, result=True, verdict=Verdict.ACCEPT, has_faults=True)
    assert decide(run(praised)) == [Accept(praised.id, needs_attention=True), Finish()]


def test_a_review_that_cannot_be_made_holds_nothing_up() -> None:
    unread = subtask(1, status=RUNNING, result=True, verdict=Verdict.UNAVAILABLE)
    assert decide(run(unread)) == [Accept(unread.id, needs_attention=True), Finish()]


def test_an_answer_is_continued_in_its_attempt() -> None:
    cut = subtask(1, status=RUNNING, goes_on=True)
    assert decide(run(cut)) == [Start(WORK, cut.id)]


def test_what_depends_on_a_failure_waits_and_the_others_go_on() -> None:
    failed = subtask(1, status=RUNNING, result=False, slot=HOPELESS)
    actions = decide(run(failed, subtask(2, 1), subtask(3, 2), subtask(4)))
    assert actions == [FailSubtask(failed.id), begun(4)]


def test_an_accepted_result_lets_its_dependents_begin_in_the_same_decision() -> None:
    good = subtask(1, status=RUNNING, result=True, verdict=Verdict.ACCEPT)
    assert decide(run(good, subtask(2, 1))) == [Accept(good.id), begun(2)]


# --- Failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slot", "reason", "number"),
    [
        (Slot(failed_try=1), AttemptReason.RETRY, 2),
        (Slot(failed_try=2, has_substitute=True), AttemptReason.RETRY, 3),
        (Slot(failed_try=3, has_substitute=True), AttemptReason.FALLBACK, 4),
        (Slot(failed_try=1, is_repeatable=False, has_substitute=True), AttemptReason.FALLBACK, 4),
    ],
)
def test_a_failure_is_tried_again_and_at_last_by_another_vendor(
    slot: Slot, reason: AttemptReason, number: int
) -> None:
    failed = subtask(1, status=RUNNING, result=False, slot=slot)
    assert decide(run(failed)) == [Start(WORK, failed.id, reason, number)]
    assert decide(run(subtasks=None, slots={StepKind.PLAN: slot})) == [
        Start(StepKind.PLAN, number=number)
    ]


@pytest.mark.parametrize(
    "slot",
    [
        Slot(failed_try=3),
        Slot(failed_try=4, has_substitute=True),
        Slot(failed_try=1, is_repeatable=False),
    ],
)
def test_a_part_that_nobody_can_do_fails_and_pauses_the_run(slot: Slot) -> None:
    failed = subtask(1, status=RUNNING, result=False, slot=slot)
    assert decide(run(failed)) == [FailSubtask(failed.id), Pause(PauseReason.STEP_FAILED)]


def test_a_plan_that_nobody_can_make_pauses_the_run() -> None:
    planless = run(subtasks=None, slots={StepKind.PLAN: HOPELESS})
    assert decide(planless) == [Pause(PauseReason.PROVIDER_UNAVAILABLE)]


def test_a_review_that_nobody_can_make_holds_nothing_up() -> None:
    unread = subtask(1, status=RUNNING, result=True, slot=HOPELESS)
    assert decide(run(unread)) == [Accept(unread.id, needs_attention=True), Finish()]


def test_a_message_that_nobody_can_answer_holds_nothing_up() -> None:
    both = (subtask(1, status=COMPLETED), subtask(2, status=COMPLETED))
    waiting = run(*both, unanswered=True, has_final=True, slots={StepKind.REPLY: HOPELESS})
    assert decide(waiting) == [GiveUpReply(), Finish()]


# --- The end --------------------------------------------------------------------------------------


def test_the_final_text_is_written_when_all_subtasks_have_completed() -> None:
    both = (subtask(1, status=COMPLETED), subtask(2, status=COMPLETED))
    assert decide(run(*both)) == [Start(FINAL)]
    assert decide(run(*both, has_final=True)) == [Finish()]
    stuck = run(*both, slots={FINAL: HOPELESS})
    assert decide(stuck) == [Pause(PauseReason.STEP_FAILED)]


def test_a_run_with_a_part_missing_is_completed_only_where_its_user_wants_that() -> None:
    parts = (subtask(1, status=COMPLETED), subtask(2, status=FAILED), subtask(3, 2))
    assert decide(run(*parts)) == [Pause(PauseReason.STEP_FAILED)]
    assert decide(run(*parts, is_finishing=True)) == [Skip(UUID(int=3)), Start(FINAL)]
    assert decide(run(*parts[:2], is_finishing=True, has_final=True)) == [Finish()]


@pytest.mark.parametrize(
    "slot",
    [
        Slot(failed_try=MAX_TRIES + 1),
        Slot(losses=2),
        Slot(refusal=Refusal(PauseReason.BUDGET_EXCEEDED, beside_others=False)),
    ],
    ids=["failed", "lost", "refused"],
)
def test_a_run_is_completed_without_what_cannot_be_made_where_its_user_wants_that(
    slot: Slot,
) -> None:
    both = (subtask(1, status=COMPLETED), subtask(2, status=COMPLETED))
    slots = {FINAL: slot, StepKind.REPLY: slot}
    assert Finish() not in decide(run(*both, slots=slots))
    assert decide(run(*both, slots=slots, is_finishing=True)) == [Finish()]
    unanswered = run(*both, slots=slots, is_finishing=True, unanswered=True)
    assert decide(unanswered) == [GiveUpReply(), Finish()]


def test_the_result_of_a_single_subtask_is_the_final_text() -> None:
    assert decide(run(subtask(1, status=COMPLETED))) == [Finish()]


def test_a_run_without_any_result_stands() -> None:
    neither = (subtask(1, status=FAILED), subtask(2, 1, status=SubtaskStatus.SKIPPED))
    for is_finishing in (False, True):
        stands = run(*neither, is_finishing=is_finishing)
        assert decide(stands) == [Pause(PauseReason.STEP_FAILED)]


def test_a_message_is_answered_before_the_run_ends() -> None:
    both = (subtask(1, status=COMPLETED), subtask(2, status=COMPLETED))
    assert decide(run(*both, unanswered=True)) == [Start(StepKind.REPLY)]
    active = frozenset({(StepKind.REPLY, None)})
    assert decide(run(*both, active=active)) == []


def test_nothing_begins_in_a_run_that_is_paused_or_over() -> None:
    for status in set(RunStatus) - {RunStatus.QUEUED, RunStatus.RUNNING}:
        assert decide(run(subtask(1), status=status)) == []


# --- Losses and refusals --------------------------------------------------------------------------


def test_a_step_whose_worker_died_begins_again_once() -> None:
    lost = subtask(1, status=RUNNING, slot=Slot(losses=1))
    assert decide(run(lost)) == [begun(1, AttemptReason.RESTART)]
    assert decide(run(replace(lost, slot=Slot(losses=2)))) == [Pause(PauseReason.INTERRUPTED)]


def test_a_refused_step_waits_for_the_money_that_others_hold() -> None:
    beside = Slot(refusal=Refusal(PauseReason.BUDGET_EXCEEDED, beside_others=True))
    waiting, busy = subtask(1, slot=beside), subtask(2, status=RUNNING)
    assert decide(run(waiting, busy, active=frozenset({(WORK, busy.id)}))) == []
    assert decide(run(waiting, replace(busy, status=COMPLETED))) == [begun(1)]


def test_a_step_that_is_refused_alone_pauses_the_run() -> None:
    alone = Slot(refusal=Refusal(PauseReason.INSUFFICIENT_BALANCE, beside_others=False))
    assert decide(run(subtask(1, slot=alone))) == [Pause(PauseReason.INSUFFICIENT_BALANCE)]


def test_what_has_ended_is_settled_before_a_pause() -> None:
    good = subtask(1, status=RUNNING, result=True, verdict=Verdict.ACCEPT)
    lost = subtask(2, status=RUNNING, slot=Slot(losses=2))
    actions = decide(run(good, lost, subtask(3, 1)))
    assert actions == [Accept(good.id), Pause(PauseReason.INTERRUPTED)]


# --- Whole lives ----------------------------------------------------------------------------------


@dataclass
class Life:
    """A run whose steps end at random, without a database."""

    state: RunState
    random: Random
    pauses: int = 0
    tries: dict[tuple[StepKind, UUID | None], int] = field(default_factory=dict)
    seen: list[Action] = field(default_factory=list)

    def carry_out(self, actions: list[Action]) -> None:
        self.seen += actions
        for action in actions:
            match action:
                case Start(kind, subtask_id, number=number):
                    self._change(subtask_id, status=RUNNING, result=None) if kind == WORK else None
                    self._set(active=self.state.active | {(kind, subtask_id)})
                    self.tries[(kind, subtask_id)] = number
                case Accept(subtask_id):
                    self._change(subtask_id, status=COMPLETED)
                case FailSubtask(subtask_id):
                    self._change(subtask_id, status=FAILED)
                case Skip(subtask_id):
                    self._change(subtask_id, status=SubtaskStatus.SKIPPED)
                case GiveUpReply():
                    self._set(unanswered=False)
                case Pause():
                    self.pauses += 1
                    self._set(status=RunStatus.PAUSED)
                case Finish():
                    self._set(status=RunStatus.COMPLETED)

    def end_a_step(self) -> None:
        kind, subtask_id = self.random.choice(sorted(self.state.active, key=str))
        self._set(active=self.state.active - {(kind, subtask_id)})
        fate = self.random.choice(["good", "good", "good", "cut", "bad", "lost", "refused"])
        if subtask_id is None:
            self._end_of_run_step(kind, fate)
        elif fate in ("lost", "refused", "bad"):
            slot = self._slot_after(fate, self._find(subtask_id).slot, (kind, subtask_id))
            self._change(subtask_id, slot=slot, goes_on=False)
            if kind == WORK and fate == "refused":
                self._change(subtask_id, status=QUEUED)
            elif kind == WORK and fate == "bad":
                self._change(subtask_id, result=False)
        elif kind == WORK and fate == "cut":
            self._change(subtask_id, goes_on=True, slot=Slot())
        elif kind == WORK:
            revised = self._find(subtask_id).verdict is not None
            more = self._find(subtask_id).revisions + revised
            self._change(
                subtask_id, result=True, goes_on=False, verdict=None, revisions=more, slot=Slot()
            )
        else:
            verdict = Verdict.ACCEPT if fate == "good" else Verdict.REVISE
            self._change(subtask_id, verdict=verdict, slot=Slot())

    def resume(self) -> None:
        """She finishes some of the runs that lack a part, and has the others tried again."""
        self._set(status=RunStatus.RUNNING, slots={}, needs_approval=False)
        done = [each for each in self.state.subtasks or () if each.status == COMPLETED]
        if done and self.random.random() < 0.2:
            self._set(is_finishing=True)
        for each in self.state.subtasks or ():
            self._change(each.id, slot=Slot())
            if each.status not in (QUEUED, RUNNING, COMPLETED) and not self.state.is_finishing:
                self._change(each.id, status=QUEUED)

    def _end_of_run_step(self, kind: StepKind, fate: str) -> None:
        slot = self.state.slots.get(kind, Slot())
        if fate in ("lost", "refused", "bad"):
            after = self._slot_after(fate, slot, (kind, None))
            self._set(slots={**self.state.slots, kind: after})
        elif kind == FINAL:
            self._set(has_final=True)
        elif kind == StepKind.PLAN and fate == "cut":
            self._set(bad_plans=1)
        elif kind in (StepKind.PLAN, StepKind.REPAIR):
            self._set(subtasks=plan_of(self.random))

    def _slot_after(self, fate: str, slot: Slot, place: tuple[StepKind, UUID | None]) -> Slot:
        if fate == "lost":
            return replace(slot, losses=slot.losses + 1, refusal=None)
        if fate == "bad":
            repeats, has_other = self.random.choice([(True, True), (True, False), (False, True)])
            return Slot(
                failed_try=self.tries[place], is_repeatable=repeats, has_substitute=has_other
            )
        beside = bool(self.state.active)
        return replace(slot, refusal=Refusal(PauseReason.INSUFFICIENT_BALANCE, beside))

    def _find(self, subtask_id: UUID) -> SubtaskState:
        return next(each for each in self.state.subtasks or () if each.id == subtask_id)

    def _set(self, **fields: object) -> None:
        self.state = replace(self.state, **fields)

    def _change(self, subtask_id: UUID | None, **fields: object) -> None:
        self._set(
            subtasks=tuple(
                replace(each, **fields) if each.id == subtask_id else each
                for each in self.state.subtasks or ()
            )
        )


def plan_of(random: Random) -> tuple[SubtaskState, ...]:
    count = random.randint(1, 12)
    return tuple(
        subtask(number, *(each for each in range(number) if random.random() < 0.3))
        for number in range(count)
    )


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=4))
def test_a_run_always_comes_to_an_end(seed: int, max_parallel: int) -> None:
    start = RunState(status=RunStatus.QUEUED, subtasks=None, max_parallel=max_parallel)
    life = Life(start, Random(seed))  # noqa: S311 - no secret
    for _ in range(2_000):
        life.carry_out(decide(life.state))
        assert decide(life.state) == [], "a decision that is carried out has nothing to add"
        check(life.state)
        if life.state.status == RunStatus.COMPLETED:
            return
        if life.state.active:
            life.end_a_step()
        elif life.state.status == RunStatus.PAUSED:
            life.resume()
        else:
            raise AssertionError("it runs, with nobody at work")
    raise AssertionError("it does not end")


def check(state: RunState) -> None:
    subtasks = {each.key: each for each in state.subtasks or ()}
    running = [each for each in subtasks.values() if each.status == RUNNING]
    assert len(running) <= state.max_parallel
    for each in running:
        assert all(subtasks[key].status == COMPLETED for key in each.depends_on)
    working = [subtask_id for _, subtask_id in state.active if subtask_id]
    assert len(working) == len(set(working)), "one step at a time for each subtask"
    if state.status == RunStatus.COMPLETED:
        assert not state.active
        assert not {each.status for each in subtasks.values()} & {QUEUED, RUNNING}
