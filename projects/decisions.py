"""What happens next in a run: a pure function from a snapshot of the run to actions.

The transaction that ends a step, or that carries out an act of the user, takes the snapshot, asks
`decide`, and carries out the actions. A run whose actions are carried out and that has no active
step is paused or has ended: no run is `running` with nobody at work.
"""

from collections.abc import Iterable, Iterator
from uuid import UUID

from msgspec import Struct

from projects.types import (
    MAX_LOSSES,
    MAX_REVISIONS,
    AttemptReason,
    PauseReason,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)

_OVER = frozenset(
    {
        SubtaskStatus.COMPLETED,
        SubtaskStatus.FAILED,
        SubtaskStatus.CANCELLED,
        SubtaskStatus.SKIPPED,
    }
)
_WITHOUT_RESULT = _OVER - {SubtaskStatus.COMPLETED}


class Refusal(Struct, frozen=True):
    """Why the latest step was not paid for. `beside_others`: while other steps of the run held
    money; the step may be possible when they have ended."""

    reason: PauseReason
    beside_others: bool


class Slot(Struct, frozen=True):
    """A place in which one step runs at a time: a subtask, the plan, the replies, the final text.
    `losses` counts the steps that died there in a row; `refusal` is that of the latest step."""

    losses: int = 0
    refusal: Refusal | None = None


class SubtaskState(Struct, frozen=True, kw_only=True):
    """A subtask. Of a running one, `result` says whether the current attempt has completed (True)
    or failed (False), `verdict` what its review says, and `has_faults` that a part of it could not
    be used; `revisions` counts the attempts that reviews have asked for. `reason` is that of its
    next attempt."""

    id: UUID
    key: str
    depends_on: tuple[str, ...] = ()
    status: SubtaskStatus = SubtaskStatus.QUEUED
    result: bool | None = None
    verdict: Verdict | None = None
    has_faults: bool = False
    revisions: int = 0
    reason: AttemptReason = AttemptReason.INITIAL
    slot: Slot = Slot()


class RunState(Struct, frozen=True, kw_only=True):
    """A run. `subtasks` is None without a plan, and in topological order otherwise.

    `bad_plans` counts the answers of the planner that were no plan. `active` are the steps that are
    queued or running, by kind and subtask. `unanswered`: a message of the user waits for the
    planner. `has_final` says whether the final text is written (True) or has failed (False).
    `slots` are those of the steps without a subtask.
    """

    status: RunStatus
    subtasks: tuple[SubtaskState, ...] | None
    bad_plans: int = 0
    needs_approval: bool = False
    reviews: bool = True
    max_parallel: int
    active: frozenset[tuple[StepKind, UUID | None]] = frozenset()
    unanswered: bool = False
    has_final: bool | None = None
    slots: dict[StepKind, Slot] = {}


class Start(Struct, frozen=True):
    """Start a step. `reason` is that of the attempt that a work step begins."""

    kind: StepKind
    subtask_id: UUID | None = None
    reason: AttemptReason | None = None


class Accept(Struct, frozen=True):
    """Complete a subtask. `needs_attention`: the review was not content or could not be made, or a
    part of the answer could not be used."""

    subtask_id: UUID
    needs_attention: bool = False


class FailSubtask(Struct, frozen=True):
    """Fail a subtask: its attempt has failed."""

    subtask_id: UUID


class Skip(Struct, frozen=True):
    """Skip a subtask: a dependency has no result."""

    subtask_id: UUID


class Pause(Struct, frozen=True):
    """Pause the run. Steps that run go on to their end."""

    reason: PauseReason


class Finish(Struct, frozen=True):
    """End the run. `code` says why it failed; None where it completed."""

    code: str | None = None


Action = Start | Accept | FailSubtask | Skip | Pause | Finish


def decide(run: RunState) -> list[Action]:
    """The next actions of a run, in the order in which they are to be carried out."""
    if run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return []
    actions: list[Action] = []
    for action in _Decision(run).actions():
        if isinstance(action, Pause):
            # What was found before stays true; nothing new starts.
            settled = (Accept, FailSubtask, Skip)
            return [*(each for each in actions if isinstance(each, settled)), action]
        actions.append(action)
    return actions


class _Decision:
    """One decision. `_statuses` are those of the subtasks once the actions so far are carried
    out."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._subtasks = run.subtasks or ()
        self._statuses = {each.key: each.status for each in self._subtasks}
        self._working = {subtask_id for _, subtask_id in run.active if subtask_id is not None}

    def actions(self) -> Iterator[Action]:
        if self._run.subtasks is None:
            kind = StepKind.REPAIR if self._run.bad_plans else StepKind.PLAN
            yield from self._start_once(kind)
            return
        if self._run.needs_approval:
            yield Pause(PauseReason.PLAN_REVIEW)
            return
        if self._run.unanswered:
            yield from self._start_once(StepKind.REPLY)
        yield from self._settle()
        yield from self._skip()
        yield from self._begin()
        yield from self._end()

    def _settle(self) -> Iterator[Action]:
        """Go on with the subtasks that run, and whose step has ended."""
        for subtask in self._subtasks:
            if subtask.status == SubtaskStatus.RUNNING and subtask.id not in self._working:
                yield from self._go_on(subtask)

    def _go_on(self, subtask: SubtaskState) -> Iterator[Action]:
        if subtask.result is None:
            yield from self._work(subtask)
        elif not subtask.result:
            self._statuses[subtask.key] = SubtaskStatus.FAILED
            yield FailSubtask(subtask.id)
        elif subtask.verdict is None and self._run.reviews:
            yield from self._start(StepKind.REVIEW, subtask.slot, subtask.id)
        elif subtask.verdict == Verdict.REVISE and subtask.revisions < MAX_REVISIONS:
            yield from self._start(StepKind.WORK, subtask.slot, subtask.id, AttemptReason.REVISION)
        else:
            self._statuses[subtask.key] = SubtaskStatus.COMPLETED
            is_doubted = subtask.verdict not in (None, Verdict.ACCEPT)
            yield Accept(subtask.id, is_doubted or subtask.has_faults)

    def _skip(self) -> Iterator[Action]:
        for subtask in self._queued():
            if any(self._statuses[key] in _WITHOUT_RESULT for key in subtask.depends_on):
                self._statuses[subtask.key] = SubtaskStatus.SKIPPED
                yield Skip(subtask.id)

    def _begin(self) -> Iterator[Action]:
        """Start the subtasks whose dependencies have completed, as many as may run at once."""
        running = list(self._statuses.values()).count(SubtaskStatus.RUNNING)
        for subtask in self._queued():
            is_ready = all(
                self._statuses[key] == SubtaskStatus.COMPLETED for key in subtask.depends_on
            )
            if is_ready and running < self._run.max_parallel:
                for action in self._work(subtask):
                    if isinstance(action, Start):
                        running += 1
                        self._statuses[subtask.key] = SubtaskStatus.RUNNING
                    yield action

    def _end(self) -> Iterator[Action]:
        """Finish the run once all subtasks have ended and the planner has nothing to answer."""
        replies = any(kind == StepKind.REPLY for kind, _ in self._run.active)
        if replies or self._run.unanswered or not _OVER.issuperset(self._statuses.values()):
            return
        completed = list(self._statuses.values()).count(SubtaskStatus.COMPLETED)
        if completed == 0:
            yield Finish("no_subtask_completed")
        elif len(self._statuses) == 1 or self._run.has_final:
            # The result of a single subtask is the final text.
            yield Finish()
        elif self._run.has_final is False:
            yield Finish("final_failed")
        else:
            yield from self._start_once(StepKind.FINAL)

    def _work(self, subtask: SubtaskState) -> Iterator[Action]:
        reason = AttemptReason.RESTART if subtask.slot.losses else subtask.reason
        yield from self._start(StepKind.WORK, subtask.slot, subtask.id, reason)

    def _start_once(self, kind: StepKind) -> Iterator[Action]:
        if (kind, None) not in self._run.active:
            yield from self._start(kind, self._run.slots.get(kind, Slot()))

    def _start(
        self,
        kind: StepKind,
        slot: Slot,
        subtask_id: UUID | None = None,
        reason: AttemptReason | None = None,
    ) -> Iterator[Action]:
        """Start a step, unless its slot waits, or is the reason to pause."""
        if slot.losses > MAX_LOSSES:
            yield Pause(PauseReason.INTERRUPTED)
        elif slot.refusal is None:
            yield Start(kind, subtask_id, reason)
        elif self._run.active:
            # It waits for what the other steps do not use of their holds.
            return
        elif slot.refusal.beside_others:
            yield Start(kind, subtask_id, reason)
        else:
            yield Pause(slot.refusal.reason)

    def _queued(self) -> Iterable[SubtaskState]:
        return [each for each in self._subtasks if self._statuses[each.key] == SubtaskStatus.QUEUED]
