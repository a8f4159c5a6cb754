"""What happens next in a run, decided without a database."""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from projects.decisions import (
    Accept,
    Action,
    FailSubtask,
    Finish,
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


def test_what_depends_on_a_failure_is_skipped_and_the_others_go_on() -> None:
    failed = subtask(1, status=RUNNING, result=False)
    skipped = [FailSubtask(failed.id), Skip(UUID(int=2)), Skip(UUID(int=3))]
    actions = decide(run(failed, subtask(2, 1), subtask(3, 2), subtask(4)))
    assert actions == [*skipped, begun(4)]


def test_an_accepted_result_lets_its_dependents_begin_in_the_same_decision() -> None:
    good = subtask(1, status=RUNNING, result=True, verdict=Verdict.ACCEPT)
    assert decide(run(good, subtask(2, 1))) == [Accept(good.id), begun(2)]


# --- The end --------------------------------------------------------------------------------------


def test_the_final_text_is_written_when_all_subtasks_have_ended() -> None:
    both = (subtask(1, status=COMPLETED), subtask(2, status=FAILED))
    assert decide(run(*both)) == [Start(FINAL)]
    assert decide(run(*both, has_final=True)) == [Finish()]
    assert decide(run(*both, has_final=False)) == [Finish("final_failed")]


def test_the_result_of_a_single_subtask_is_the_final_text() -> None:
    assert decide(run(subtask(1, status=COMPLETED))) == [Finish()]


def test_a_run_without_any_result_has_failed() -> None:
    neither = (subtask(1, status=FAILED), subtask(2, 1, status=SubtaskStatus.SKIPPED))
    assert decide(run(*neither)) == [Finish("no_subtask_completed")]


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
    assert decide(run(waiting, replace(busy, status=FAILED))) == [begun(1)]


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
    seen: list[Action] = field(default_factory=list)

    def carry_out(self, actions: list[Action]) -> None:
        self.seen += actions
        for action in actions:
            match action:
                case Start(kind, subtask_id):
                    self._change(subtask_id, status=RUNNING, result=None) if kind == WORK else None
                    self._set(active=self.state.active | {(kind, subtask_id)})
                case Accept(subtask_id):
                    self._change(subtask_id, status=COMPLETED)
                case FailSubtask(subtask_id):
                    self._change(subtask_id, status=FAILED)
                case Skip(subtask_id):
                    self._change(subtask_id, status=SubtaskStatus.SKIPPED)
                case Pause():
                    self.pauses += 1
                    self._set(status=RunStatus.PAUSED)
                case Finish(code):
                    self._set(status=RunStatus.FAILED if code else RunStatus.COMPLETED)

    def end_a_step(self) -> None:
        kind, subtask_id = self.random.choice(sorted(self.state.active, key=str))
        self._set(active=self.state.active - {(kind, subtask_id)})
        fate = self.random.choice(["good", "good", "bad", "lost", "refused"])
        if subtask_id is None:
            self._end_of_run_step(kind, fate)
        elif fate in ("lost", "refused"):
            self._change(subtask_id, slot=self._slot_after(fate, self._find(subtask_id).slot))
            if kind == WORK and fate == "refused":
                self._change(subtask_id, status=QUEUED)
        elif kind == WORK:
            revised = self._find(subtask_id).verdict is not None
            more = self._find(subtask_id).revisions + revised
            good = fate == "good"
            self._change(subtask_id, result=good, verdict=None, revisions=more, slot=Slot())
        else:
            verdict = Verdict.ACCEPT if fate == "good" else Verdict.REVISE
            self._change(subtask_id, verdict=verdict, slot=Slot())

    def resume(self) -> None:
        self._set(status=RunStatus.RUNNING, slots={}, needs_approval=False)
        for each in self.state.subtasks or ():
            self._change(each.id, slot=Slot())

    def _end_of_run_step(self, kind: StepKind, fate: str) -> None:
        slot = self.state.slots.get(kind, Slot())
        if fate in ("lost", "refused"):
            self._set(slots={**self.state.slots, kind: self._slot_after(fate, slot)})
        elif kind == FINAL:
            self._set(has_final=fate == "good")
        elif kind == StepKind.PLAN and fate == "bad":
            self._set(bad_plans=1)
        elif kind in (StepKind.PLAN, StepKind.REPAIR):
            self._set(subtasks=plan_of(self.random))

    def _slot_after(self, fate: str, slot: Slot) -> Slot:
        if fate == "lost":
            return Slot(losses=slot.losses + 1)
        beside = bool(self.state.active)
        return Slot(refusal=Refusal(PauseReason.INSUFFICIENT_BALANCE, beside))

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
        if life.state.status in (RunStatus.COMPLETED, RunStatus.FAILED):
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
    if state.status in (RunStatus.COMPLETED, RunStatus.FAILED):
        assert not state.active
        assert not {each.status for each in subtasks.values()} & {QUEUED, RUNNING}
