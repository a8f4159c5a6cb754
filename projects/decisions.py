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
    MAX_TRIES,
    AttemptReason,
    PauseReason,
    RunStatus,
    StepKind,
    SubtaskStatus,
    Verdict,
)


class Refusal(Struct, frozen=True):
    """Why the latest step was not paid for. `beside_others`: while other steps of the run held
    money; the step may be possible when they have ended."""

    reason: PauseReason
    beside_others: bool


class Slot(Struct, frozen=True, kw_only=True):
    """A place in which one step runs at a time: a subtask, the plan, the replies, the final text.

    `losses` counts the steps that died there in a row; `refusal` is that of the latest step.
    `failed_try` is the number of the try that has failed, 0 where the latest step has not.
    `is_repeatable`: its model may do better another time. `has_substitute`: a model of another
    vendor could make the step. `in_vain` counts the authors that have used up their calls in vain,
    one in the place of the other.
    """

    losses: int = 0
    refusal: Refusal | None = None
    failed_try: int = 0
    is_repeatable: bool = True
    has_substitute: bool = False
    in_vain: int = 0

    @property
    def next_try(self) -> int | None:
        """The number of the try that comes next; after MAX_TRIES it is the substitute's. None where
        nobody is left to try."""
        if self.failed_try < MAX_TRIES and (self.is_repeatable or not self.failed_try):
            return self.failed_try + 1
        return MAX_TRIES + 1 if self.failed_try <= MAX_TRIES and self.has_substitute else None


class SubtaskState(Struct, frozen=True, kw_only=True):
    """A subtask. Of a running one, `result` says whether the current attempt has completed (True)
    or failed (False), `verdict` what its review says, and `has_faults` that a part of it could not
    be used; `revisions` counts the attempts that reviews have asked for. `reason` is that of its
    next attempt. `goes_on`: the answer of the current attempt is continued by another step."""

    id: UUID
    key: str
    depends_on: tuple[str, ...] = ()
    status: SubtaskStatus = SubtaskStatus.QUEUED
    result: bool | None = None
    verdict: Verdict | None = None
    has_faults: bool = False
    revisions: int = 0
    reason: AttemptReason = AttemptReason.INITIAL
    goes_on: bool = False
    slot: Slot = Slot()


class RunState(Struct, frozen=True, kw_only=True):
    """A run. `subtasks` is None without a plan, and in topological order otherwise.

    `bad_plans` counts the answers of the planner that were no plan. `active` are the steps that are
    queued or running, by kind and subtask. `unanswered`: a message of the user waits for the
    planner. `has_final`: the final text is written. `is_finishing`: its user wants it completed
    with the parts that are there. `slots` are those of the steps without a subtask.
    """

    status: RunStatus
    subtasks: tuple[SubtaskState, ...] | None
    bad_plans: int = 0
    needs_approval: bool = False
    reviews: bool = True
    max_parallel: int
    active: frozenset[tuple[StepKind, UUID | None]] = frozenset()
    unanswered: bool = False
    has_final: bool = False
    is_finishing: bool = False
    slots: dict[StepKind, Slot] = {}


class Start(Struct, frozen=True):
    """Start a step. `reason` is that of the attempt that a work step begins; None where it
    continues the answer of the current one. `number` is that of the try: after MAX_TRIES a model
    of another vendor makes it."""

    kind: StepKind
    subtask_id: UUID | None = None
    reason: AttemptReason | None = None
    number: int = 1


class Accept(Struct, frozen=True):
    """Complete a subtask. `needs_attention`: the review was not content or could not be made, or a
    part of the answer could not be used."""

    subtask_id: UUID
    needs_attention: bool = False


class FailSubtask(Struct, frozen=True):
    """Fail a subtask: all tries have failed."""

    subtask_id: UUID


class Skip(Struct, frozen=True):
    """Skip a subtask: the run is completed without it."""

    subtask_id: UUID


class GiveUpReply(Struct, frozen=True):
    """Leave messages of the user without an answer: all tries have failed, or the run is to be
    completed with what is there."""


class Pause(Struct, frozen=True):
    """Pause the run. Steps that run go on to their end."""

    reason: PauseReason


class Finish(Struct, frozen=True):
    """Complete the run. Where no model could write the final text, it has the parts' results."""


Action = Start | Accept | FailSubtask | Skip | GiveUpReply | Pause | Finish


def decide(run: RunState) -> list[Action]:
    """The next actions of a run, in the order in which they are to be carried out."""
    if run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return []
    actions: list[Action] = []
    for action in _Decision(run).actions():
        if isinstance(action, Pause):
            # What was found before stays true; nothing new starts.
            settled = (Accept, FailSubtask, Skip, GiveUpReply)
            return [*(each for each in actions if isinstance(each, settled)), action]
        actions.append(action)
    return actions


class _Decision:
    """One decision. `_statuses` are those of the subtasks, and `_unanswered` whether a message
    waits, once the actions so far are carried out."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._subtasks = run.subtasks or ()
        self._statuses = {each.key: each.status for each in self._subtasks}
        self._unanswered = run.unanswered
        self._working = {subtask_id for _, subtask_id in run.active if subtask_id is not None}

    def actions(self) -> Iterator[Action]:
        if self._run.subtasks is None:
            yield from self._plan()
            return
        if self._run.needs_approval:
            yield Pause(PauseReason.PLAN_REVIEW)
            return
        yield from self._reply()
        yield from self._settle()
        yield from self._begin()
        yield from self._end()

    def _plan(self) -> Iterator[Action]:
        kind = StepKind.REPAIR if self._run.bad_plans else StepKind.PLAN
        if self._nobody_left(kind):
            yield Pause(PauseReason.PROVIDER_UNAVAILABLE)
        else:
            yield from self._start_once(kind)

    def _reply(self) -> Iterator[Action]:
        if self._unanswered and (
            self._nobody_left(StepKind.REPLY) or self._is_left_out(StepKind.REPLY)
        ):
            self._unanswered = False
            yield GiveUpReply()
        elif self._unanswered:
            yield from self._start_once(StepKind.REPLY)

    def _settle(self) -> Iterator[Action]:
        """Go on with the subtasks that run, and whose step has ended."""
        for subtask in self._subtasks:
            if subtask.status == SubtaskStatus.RUNNING and subtask.id not in self._working:
                yield from self._go_on(subtask)

    def _go_on(self, subtask: SubtaskState) -> Iterator[Action]:
        slot = subtask.slot
        if subtask.goes_on:
            yield from self._start(StepKind.WORK, slot, subtask.id)
        elif subtask.result is None:
            yield from self._work(subtask)
        elif not subtask.result:
            yield from self._try_again(subtask)
        elif subtask.verdict is None and self._run.reviews and slot.next_try is not None:
            yield from self._start(StepKind.REVIEW, slot, subtask.id)
        elif subtask.verdict == Verdict.REVISE and subtask.revisions < MAX_REVISIONS:
            yield from self._start(StepKind.WORK, slot, subtask.id, AttemptReason.REVISION)
        else:
            self._statuses[subtask.key] = SubtaskStatus.COMPLETED
            is_praised = subtask.verdict == Verdict.ACCEPT or not self._run.reviews
            yield Accept(subtask.id, subtask.has_faults or not is_praised)

    def _try_again(self, subtask: SubtaskState) -> Iterator[Action]:
        """After an attempt that has failed."""
        match subtask.slot.next_try:
            case None:
                self._statuses[subtask.key] = SubtaskStatus.FAILED
                yield FailSubtask(subtask.id)
            case number:
                is_last = number > MAX_TRIES
                reason = AttemptReason.FALLBACK if is_last else AttemptReason.RETRY
                yield from self._start(StepKind.WORK, subtask.slot, subtask.id, reason)

    def _begin(self) -> Iterator[Action]:
        """Start the subtasks whose dependencies have completed, as many as may run at once. None
        starts in a run that is to be completed with what is there."""
        running = list(self._statuses.values()).count(SubtaskStatus.RUNNING)
        for subtask in self._queued():
            if self._run.is_finishing:
                self._statuses[subtask.key] = SubtaskStatus.SKIPPED
                yield Skip(subtask.id)
                continue
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
        """Complete the run once all subtasks have completed and the planner has nothing to answer;
        pause it where some have not, and nothing else can go on."""
        replies = any(kind == StepKind.REPLY for kind, _ in self._run.active)
        if replies or self._unanswered or self._is_at_work():
            return
        statuses, done = set(self._statuses.values()), SubtaskStatus.COMPLETED
        if done not in statuses or (statuses != {done} and not self._run.is_finishing):
            yield Pause(PauseReason.STEP_FAILED)
        elif len(self._statuses) == 1 or self._run.has_final:
            # The result of a single subtask is the final text.
            yield Finish()
        elif self._is_left_out(StepKind.FINAL):
            yield Finish()
        elif self._nobody_left(StepKind.FINAL):
            yield Pause(PauseReason.STEP_FAILED)
        else:
            yield from self._start_once(StepKind.FINAL)

    def _is_at_work(self) -> bool:
        """Does a subtask run, or wait for one that may still complete, or for its turn?"""
        completable = {SubtaskStatus.COMPLETED, SubtaskStatus.RUNNING}
        for subtask in self._subtasks:
            status = self._statuses[subtask.key]
            if status == SubtaskStatus.RUNNING:
                return True
            waits_for = {self._statuses[key] for key in subtask.depends_on}
            if status == SubtaskStatus.QUEUED and waits_for <= completable:
                return True
        return False

    def _work(self, subtask: SubtaskState) -> Iterator[Action]:
        reason = AttemptReason.RESTART if subtask.slot.losses else subtask.reason
        yield from self._start(StepKind.WORK, subtask.slot, subtask.id, reason)

    def _nobody_left(self, kind: StepKind) -> bool:
        """Have all tries of this step failed?"""
        is_active = (kind, None) in self._run.active
        return not is_active and self._run.slots.get(kind, Slot()).next_try is None

    def _is_left_out(self, kind: StepKind) -> bool:
        """Is this step of no subtask left out? That is: it cannot be made, and the user wants the
        run completed with what is there."""
        slot = self._run.slots.get(kind, Slot())
        is_refused = slot.refusal is not None or slot.losses > MAX_LOSSES
        is_active = (kind, None) in self._run.active
        return self._run.is_finishing and not is_active and (is_refused or self._nobody_left(kind))

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
        start = Start(kind, subtask_id, reason, slot.next_try or 1)
        if slot.losses > MAX_LOSSES:
            yield Pause(PauseReason.INTERRUPTED)
        elif slot.refusal is None:
            yield start
        elif self._run.active:
            # It waits for what the other steps do not use of their holds.
            return
        elif slot.refusal.beside_others:
            yield start
        else:
            yield Pause(slot.refusal.reason)

    def _queued(self) -> Iterable[SubtaskState]:
        return [each for each in self._subtasks if self._statuses[each.key] == SubtaskStatus.QUEUED]
