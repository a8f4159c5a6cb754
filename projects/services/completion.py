"""What the end of a step writes: its text, what the run reads in it, and what the run does next."""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import asdict

from ai.generations.endings import Output
from ai.generations.types import Completion, Text
from ai.inference.errors import CallInterrupted, error_of
from billing.selectors.charges import get_usage
from common.errors import DomainError
from events.types import NewEvent, model_actor
from projects import events
from projects.author_tools.calls import stored, with_calls
from projects.errors import NothingHandedIn, UnusableAnswer
from projects.json_answers import find_object
from projects.models import Attempt, Step
from projects.outputs import FileFault
from projects.outputs import Output as Answer
from projects.plans import UnsoundPlan, read_plan
from projects.prompts.reviewing import read_review
from projects.refusals import outcome_of, reworded_for_runs
from projects.selectors.answers import shown_before, text_before
from projects.selectors.messages import refused_reply
from projects.selectors.spending import left_to_write
from projects.selectors.subtasks import text_in_log
from projects.selectors.tool_turns import read_turns, since_calls
from projects.services import attempts, checks, deliverables, plans, replies
from projects.services.advance import advance
from projects.services.author_turns import Ending, answer_of, end_turn
from projects.services.locks import lock_step
from projects.services.log import append_events
from projects.services.staging import read_work
from projects.shown_text import text_of
from projects.types import (
    ENDED,
    MAX_CONTINUATIONS,
    MAX_READS,
    SHOWN,
    AttemptReason,
    Outcome,
    StepKind,
    SubtaskStatus,
    Verdict,
)
from work.jobs.selectors import is_unwanted

# Attempts that begin a subtask: where one is refused, the subtask waits in the queue again.
_BEGINNINGS = (AttemptReason.INITIAL, AttemptReason.STALE, AttemptReason.REASSIGN)
_ENDS_EARLY = {
    "length": "The answer has reached the output limit of the model and ends early.",
    "content_filter": "A filter of the provider has ended the answer early.",
}
_NOT_FINISHED = "The author has not finished: its calls, or what pays for them, were used up."
_NO_WORDS = "The author has written files, and has said nothing of them."
# Answers of the planner that are no plan, until the goal itself becomes the only subtask.
_MAX_BAD_PLANS = 2


class StepOutput(Output[Step, None]):
    """Writes the steps of runs."""

    def lock(self, call_id: UUID) -> Step | None:
        return lock_step(call_id)

    def is_open(self, call_id: UUID, row: Step | None) -> bool:
        return row is not None and row.ended_at is None

    def text_in_log(self, row: Step) -> Text:
        return Text(text_in_log(row))

    def write_end(self, call_id: UUID, row: Step | None, completion: Completion) -> None:
        if row is None:
            return
        run = row.run
        ending = _write(row, completion)
        new_events = [*completion.unsent, *_last_shown(row), *_finish(row, ending)]
        next_events, usage = advance(run), events.usage_updated()
        # The event that ends a run is its last one.
        new_events += [usage, *next_events] if run.status in ENDED else [*next_events, usage]
        append_events(run=run, events=new_events)

    def write_cost(self, row: Step) -> None:
        append_events(run=row.run, events=[*_cost(row), events.usage_updated()])


STEP = StepOutput()


def _cost(step: Step) -> list[NewEvent]:
    """The event of a subtask whose cost has changed."""
    return [events.subtask_event("updated", step.subtask)] if step.subtask is not None else []


def _last_shown(step: Step) -> list[NewEvent]:
    """The events of what waited for the rest of its line, where the answer is complete."""
    is_off_the_plan = step.kind == StepKind.WORK and step.attempt is None
    if step.outcome != Outcome.DONE or step.goes_on or step.kind not in SHOWN or is_off_the_plan:
        return []
    reader, before = shown_before(step)
    offset = len(text_of([*before, *reader.read(step.content)]))
    return events.shown(events.place_of(step), reader.rest(), offset)


def _finish(step: Step, ending: Ending | None) -> list[NewEvent]:
    """Write what the end of a step means for what it was about. Returns the events."""
    if step.goes_on:
        return _cost(step)
    if step.run.status in ENDED and step.kind not in (StepKind.WORK, StepKind.FINAL):
        return _cost(step)
    if step.subtask is None and step.kind in (StepKind.WORK, StepKind.REVIEW):
        # The subtask is off the plan.
        return []
    match StepKind(step.kind):
        case StepKind.PLAN | StepKind.REPAIR:
            return _end_of_plan(step)
        case StepKind.WORK:
            return _end_of_work(step, ending)
        case StepKind.REVIEW:
            return _end_of_review(step)
        case StepKind.REPLY:
            return _end_of_reply(step)
        case StepKind.FINAL:
            return _end_of_final(step)


def _write(step: Step, completion: Completion) -> Ending | None:
    """Write the end of a step. Returns what the calls mean that an author has asked for."""
    step.status = completion.status
    step.outcome = outcome_of(completion.failure)
    lost = error_of(CallInterrupted())
    step.error = reworded_for_runs(lost if step.outcome == Outcome.LOST else completion.error)
    step.content = completion.content
    step.finish_reason = completion.reason
    step.beside_others = step.outcome == Outcome.REFUSED and len(step.run.rows.active_steps()) > 1
    step.ended_at = step.run.rows.now
    ending = _end_of_calls(step, completion)
    step.goes_on = ending.goes_on if ending is not None else _is_to_be_continued(step)
    step.save()
    return ending


def _is_to_be_continued(step: Step) -> bool:
    """Has the output limit of the model cut an answer that another step can continue?"""
    if step.outcome != Outcome.DONE or step.finish_reason != "length" or not step.content:
        return False
    if is_unwanted(step.pk) or step.run.status in ENDED:
        return False
    return _may_write_more(step) and len(since_calls(read_turns(step))) < MAX_CONTINUATIONS


def _may_write_more(step: Step) -> bool:
    """Does the bound that the user has set leave anything to write after this step?"""
    left = left_to_write(step)
    written = get_usage(step.run.account, [step.pk]).get(step.pk)
    return left is None or written is None or left > written.output_tokens


def _end_of_calls(step: Step, completion: Completion) -> Ending | None:
    """What the calls mean that an author has asked for; None where it has asked for none."""
    calls = stored(completion.tool_calls)
    if not calls or step.outcome != Outcome.DONE or "is_last" not in step.result:
        return None
    step.result = with_calls(step.result, calls)
    if step.subtask is None or step.run.status in ENDED or is_unwanted(step.pk):
        return Ending(is_void=True)
    return end_turn(step, is_last=step.result["is_last"] or not _may_write_more(step))


def _fail(step: Step, failure: DomainError) -> None:
    """Let a step count as failed whose answer cannot be used."""
    step.outcome, step.error = Outcome.FAILED, error_of(failure)
    step.save(update_fields=["outcome", "error"])


# --- The plan -------------------------------------------------------------------------------------


def _end_of_plan(step: Step) -> list[NewEvent]:
    run, actor = step.run, model_actor(step.model)
    if step.outcome != Outcome.DONE or run.has_plan:
        return _recovered(step)
    answer = text_before(step) + step.content
    try:
        plan = read_plan(find_object(answer), plans.known_to_planner(run))
    except UnsoundPlan as unsound:
        step.result = {**step.result, "faults": unsound.faults}
        step.save(update_fields=["result"])
        run.bad_plans += 1
        run.save(update_fields=["bad_plans"])
        if run.bad_plans < _MAX_BAD_PLANS:
            return []
        return plans.adopt_remains(run=run, actor=actor)
    return plans.adopt(run=run, plan=plan, actor=actor)


# --- Subtasks -------------------------------------------------------------------------------------


def _end_of_work(step: Step, ending: Ending | None) -> list[NewEvent]:
    attempt, subtask, actor = step.attempt, step.subtask, model_actor(step.model)
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - work has both
    if step.outcome == Outcome.REFUSED:
        return _take_back(step)
    if ending is not None and ending.is_void:
        attempt.status, attempt.ended_at = SubtaskStatus.CANCELLED, step.ended_at
        attempt.save(update_fields=["status", "ended_at"])
        return [events.subtask_event("updated", subtask, actor)]
    answer, files, faults = read_work(step, answer_of(step, ending))
    # Of an answer that has not come in full, `error` says why.
    faults = [*faults, *checks.noted_faults(step)] if step.outcome == Outcome.DONE else []
    if step.outcome == Outcome.DONE and not answer.body and not files:
        nothing = UnusableAnswer() if ending is None else NothingHandedIn()
        answer = _without_words(step, attempt, nothing)
    attempt.status, attempt.error = step.status, step.error
    if step.outcome == Outcome.FAILED:
        attempt.status = SubtaskStatus.FAILED
    attempt.body, attempt.summary = answer.body, answer.summary
    attempt.faults = [*_cut(step, ending), *map(asdict, faults)]
    attempt.ended_at = step.ended_at
    attempt.save()
    if step.outcome == Outcome.DONE:
        attempts.write_files(attempt=attempt, files=files)
        unfit = [each for each in faults if not each.mended]
        if unfit and attempt.reason != AttemptReason.REVISION and not _cut(step, ending):
            _give_back(attempt, unfit)
    told = ending.events if ending is not None else ()
    return [*told, *_recovered(step), events.subtask_event("updated", subtask, actor)]


def _without_words(step: Step, attempt: Attempt, nothing: DomainError) -> Answer:
    """The answer of an author that has said nothing. Without a file it is none: the step has failed
    because of that (`nothing`)."""
    if not attempt.files.exists():
        _fail(step, nothing)
        return Answer(body="", summary="")
    return Answer(body=_NO_WORDS, summary=_NO_WORDS)


def _give_back(attempt: Attempt, faults: Sequence[FileFault]) -> None:
    """Let the author mend files that cannot be used, or did not come, once, before anybody reviews
    the rest. What it did not see of the repository is shown to it then."""
    subtask = attempt.subtask
    entries = subtask.run.checkout.entries if subtask.run.checkout is not None else {}
    unseen = [each.path for each in faults if each.path in entries]
    subtask.reads = [*dict.fromkeys([*unseen, *subtask.reads])][:MAX_READS]
    subtask.save(update_fields=["reads"])
    attempt.verdict = Verdict.REVISE
    issues = [f"{each.path}: {each.message}" for each in faults]
    attempt.review = {"model": None, "points": [], "issues": issues}
    attempt.save(update_fields=["verdict", "review"])


def _cut(step: Step, ending: Ending | None) -> list[dict[str, str | None]]:
    """The fault of an answer that ends early."""
    message = _ENDS_EARLY.get(step.finish_reason)
    if ending is not None:
        message = None if ending.finish is not None else _NOT_FINISHED
    return [{"path": None, "message": message}] if message is not None else []


def _take_back(step: Step) -> list[NewEvent]:
    """Undo the beginning of an attempt that was not paid for: nothing was written of it. One whose
    answer was only to be continued waits with what it has."""
    attempt, subtask = step.attempt, step.subtask
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - work has both
    if any(
        row.attempt_id == attempt.pk and row.pk != step.pk for row in step.run.rows.steps.values()
    ):
        return [events.subtask_event("updated", subtask)]
    was_current = subtask.current_id == attempt.pk
    attempts.undo(attempt=attempt)
    is_beginning = attempt.reason in _BEGINNINGS
    if was_current and is_beginning and subtask.status == SubtaskStatus.RUNNING:
        subtask.status = SubtaskStatus.QUEUED
        subtask.save(update_fields=["status"])
    return [events.subtask_event("updated", subtask)]


def _end_of_review(step: Step) -> list[NewEvent]:
    attempt, subtask = step.attempt, step.subtask
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - a review has both
    if step.outcome != Outcome.DONE:
        return [*_recovered(step), *_cost(step)]
    review = read_review(text_before(step) + step.content)
    if review.verdict == Verdict.UNAVAILABLE:
        _fail(step, UnusableAnswer())
        return _cost(step)
    attempt.verdict = review.verdict
    attempt.review = {
        "model": step.model,
        "points": [asdict(point) for point in review.points],
        "issues": [*review.issues],
    }
    attempt.save(update_fields=["verdict", "review"])
    return [
        events.review_completed(attempt, step.model),
        events.subtask_event("updated", subtask, model_actor(step.model)),
    ]


# --- The whole ------------------------------------------------------------------------------------


def _end_of_reply(step: Step) -> list[NewEvent]:
    run = step.run
    if step.outcome != Outcome.DONE:
        return _recovered(step)
    carried_out = replies.carry_out(step=step, is_last=refused_reply(step) is not None)
    if carried_out is None:
        return []
    run.answered = max(run.answered, step.result["answers"])
    run.save(update_fields=["answered"])
    return carried_out


def _end_of_final(step: Step) -> list[NewEvent]:
    run, actor = step.run, model_actor(step.model)
    ended = events.final_event("ended", step)
    if step.outcome != Outcome.DONE or run.status in ENDED:
        return [ended, *_recovered(step)]
    if is_unwanted(step.pk):
        # It ended before it could be stopped, and is made of results that have changed since.
        return [ended]
    run.has_final = True
    run.save(update_fields=["has_final"])
    content, is_cut = text_before(step) + step.content, step.finish_reason in _ENDS_EARLY
    return [
        ended,
        deliverables.deliver_final(run=run, content=content, is_cut=is_cut, actor=actor),
    ]


def _recovered(step: Step) -> list[NewEvent]:
    """The event of a step whose worker died. What the run does then is decided after it."""
    if step.outcome != Outcome.LOST:
        return []
    return [events.run_recovered(step)]
