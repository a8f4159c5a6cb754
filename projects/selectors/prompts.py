"""What the prompts of a run's steps are about."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ai.catalog.types import Model
from ai.inference.bounds import output_bound
from ai.providers.types import Message, Tools
from projects.models import Attempt, AttemptFile, Run, Step, Subtask
from projects.outputs import mark_of
from projects.patches import patch_of
from projects.prompts.finishing import FinalContext, final_prompt
from projects.prompts.planning import PlanContext, planning_prompt, repair_prompt
from projects.prompts.replying import ReplyContext, reply_prompt, reply_repair_prompt
from projects.prompts.reviewing import ReviewContext, ReviewFile, review_prompt
from projects.prompts.working import Result, Revision, WorkContext, revision_prompt, work_prompt
from projects.selectors.answers import first_turn, text_before
from projects.selectors.candidate_models import roster_of_run
from projects.selectors.material import (
    MAX_CHARACTERS,
    budget_of,
    completed,
    delivered_files,
    faults_of,
    messages_of_user,
    missing_parts,
    part_lines,
    readable_uploads,
    results_of,
    review_of,
    summaries_of_others,
    turns_before,
    upload_heads,
)
from projects.selectors.messages import refused_reply
from projects.selectors.sources import current_contents, sources_of
from projects.selectors.tool_turns import (
    MAX_CONVERSATION,
    Turn,
    calls_before,
    calls_of,
    conversation,
    functions_for,
    has_to_finish,
    read_turns,
    since_calls,
)
from projects.selectors.working_copies import uses_tools
from projects.types import GOING_ON, AttemptReason, Outcome, StepKind, SubtaskStatus, Verdict

# Characters of the words around the inputs of a prompt.
_WORDS = 20_000
# Fewer than ordinary text has: what fits by this estimate is sure to fit.
_BYTES_PER_TOKEN = 3


class Asked(Struct, frozen=True):
    """What a model is asked: the messages, and the functions that an author may call. `is_last`: it
    has to finish in this turn."""

    messages: tuple[Message, ...]
    tools: Tools | None = None
    is_last: bool = False


def ask(step: Step, model: Model) -> Asked:
    """What the model of a step is asked. An author without means for more than one turn calls no
    functions."""
    turns = read_turns(step)
    if step.kind != StepKind.WORK or not uses_tools(step.run, model):
        return Asked(_messages(step, model, turns))
    asked = Asked(
        _messages(step, model, turns, with_tools=True),
        functions_for(is_last=False),
    )
    made = calls_before(turns, step.model)
    if not has_to_finish(step, model, asked.messages, made):
        return asked
    if not calls_of(turns):
        return Asked(_messages(step, model, turns))
    last = _messages(step, model, turns, with_tools=True, is_last=True)
    return Asked(last, functions_for(is_last=True), is_last=True)


def _messages(
    step: Step,
    model: Model,
    turns: Sequence[Turn],
    *,
    with_tools: bool = False,
    is_last: bool = False,
) -> tuple[Message, ...]:
    """The messages of a step. One that continues an answer is shown what there is of it."""
    question = _question(step, model, with_tools=with_tools)
    if not with_tools:
        turns = since_calls(turns)
    room = MAX_CONVERSATION - sum(len(message.text) for message in question)
    room = min(room, _room(model))
    return (*question, *conversation(turns, step.model, room=room, is_last=is_last))


def _question(step: Step, model: Model, *, with_tools: bool) -> tuple[Message, ...]:
    run = step.run
    match StepKind(step.kind):
        case StepKind.PLAN:
            return (Message("user", planning_prompt(_context(run, model))),)
        case StepKind.REPAIR:
            return _repair(run, model)
        case StepKind.WORK:
            return _work(step, model, with_tools=with_tools)
        case StepKind.REVIEW:
            return (Message("user", review_prompt(_review_context(step, model))),)
        case StepKind.REPLY:
            return _reply(step, model)
        case StepKind.FINAL:
            return (Message("user", final_prompt(_final_context(run, model))),)


def _room(model: Model) -> int:
    """Characters for the inputs of a prompt."""
    tokens = model.context_window - output_bound(model) - model.prompt_overhead_tokens
    return max(0, min(MAX_CHARACTERS, tokens * _BYTES_PER_TOKEN // 2 - _WORDS))


def _context(run: Run, model: Model) -> PlanContext:
    return PlanContext(
        goal=run.goal,
        roster=roster_of_run(run),
        max_subtasks=run.max_subtasks,
        max_parallel=run.max_parallel,
        repository=run.checkout.digest if run.checkout is not None else "",
        uploads=upload_heads(run),
        messages=messages_of_user(run),
        budget=budget_of(run),
        room=_room(model),
    )


def _repair(run: Run, model: Model) -> tuple[Message, ...]:
    bad = run.steps.filter(kind=StepKind.PLAN, outcome=Outcome.DONE).latest("id")
    context = _context(run, model)
    return (
        Message("user", planning_prompt(context)),
        Message("assistant", text_before(bad) + bad.content),
        Message("user", repair_prompt(context, bad.result["faults"])),
    )


def _work(step: Step, model: Model, *, with_tools: bool) -> tuple[Message, ...]:
    subtask = step.subtask
    assert subtask is not None  # noqa: S101 - work has one
    mark = mark_of(first_turn(step).pk)
    context = _work_context(step.run, subtask, model, mark)
    if with_tools and step.run.checkout is not None:
        context = replace(context, calls_functions=True, repository=step.run.checkout.digest)
    first = Message("user", work_prompt(context))
    before, is_redone = _to_revise(subtask, step)
    if before is None:
        return (first,)
    asked = [*review_of(before).all_issues, *faults_of(before)] if before.verdict else []
    wanted = [*(subtask.notes[-1:] if is_redone else []), *dict.fromkeys(asked)]
    revision = Revision(text=before.body, issues=wanted, is_of_user=is_redone)
    files = [] if with_tools else _files_as_text(before)
    text = "\n\n".join(filter(None, (before.body, *files)))
    request = revision_prompt(revision, mark, calls_functions=with_tools)
    return (first, Message("assistant", text), Message("user", request))


def _work_context(run: Run, subtask: Subtask, model: Model, mark: str) -> WorkContext:
    return WorkContext(
        goal=run.goal,
        title=subtask.title,
        instructions=subtask.instructions,
        acceptance=subtask.acceptance,
        output=subtask.output,
        writes=subtask.writes,
        inputs=_inputs(subtask),
        others=summaries_of_others(subtask),
        notes=[*messages_of_user(run), *subtask.notes],
        uploads=readable_uploads(run),
        sources=sources_of(subtask),
        mark=mark,
        room=_room(model),
    )


def _to_revise(subtask: Subtask, step: Step) -> tuple[Attempt | None, bool]:
    """The attempt that a work step is to revise, None where the subtask begins anew, and whether
    its user wants that rather than its review."""
    this = step.attempt
    assert this is not None  # noqa: S101 - work has one
    earlier = [row for row in subtask.run.rows.attempts_of(subtask) if row.number < this.number]
    reason = this.reason
    while reason in GOING_ON and earlier:
        reason = earlier.pop().reason
    match reason:
        case AttemptReason.REVISION:
            wanted = [row for row in earlier if row.verdict == Verdict.REVISE]
        case AttemptReason.REDO:
            wanted = [row for row in earlier if row.status == SubtaskStatus.COMPLETED]
        case _:
            wanted = []
    return (wanted[-1] if wanted else None), reason == AttemptReason.REDO


def _review_context(step: Step, model: Model) -> ReviewContext:
    subtask, attempt = step.subtask, step.attempt
    assert subtask is not None and attempt is not None  # noqa: S101, PT018 - a review has both
    files, sources = _files_to_review(subtask, attempt), sources_of(subtask)
    changed = {file.path for file in files if file.diff is not None}
    return ReviewContext(
        goal=step.run.goal,
        title=subtask.title,
        instructions=subtask.instructions,
        acceptance=subtask.acceptance,
        writes=subtask.writes,
        body=attempt.body,
        files=files,
        faults=faults_of(attempt),
        asked=_asked_before(subtask, attempt),
        messages=messages_of_user(step.run),
        notes=subtask.notes,
        inputs=_inputs(subtask),
        sources={path: text for path, text in sources.items() if path not in changed},
        uploads=readable_uploads(step.run),
        room=_room(model),
    )


def _files_to_review(subtask: Subtask, attempt: Attempt) -> list[ReviewFile]:
    files = [*attempt.files.order_by("path")]
    paths = {path for file in files for path in (file.path, file.previous_path) if path}
    before = current_contents(subtask, paths)
    return [
        ReviewFile(
            path=file.path,
            op=file.op,
            content=file.content,
            previous_path=file.previous_path,
            diff=_diff(file, before.get(file.previous_path or file.path)),
        )
        for file in files
    ]


def _diff(file: AttemptFile, before: str | None) -> str | None:
    if before is None:
        return None
    after = None if file.op == "delete" else file.content
    return patch_of(file.path, before, after, previous_path=file.previous_path or None)


def _asked_before(subtask: Subtask, attempt: Attempt) -> list[str]:
    """What the review of the attempt before has asked for, where this one revises it."""
    if attempt.reason != AttemptReason.REVISION:
        return []
    before = [row for row in subtask.run.rows.attempts_of(subtask) if row.number < attempt.number]
    reviewed = next((row for row in reversed(before) if row.verdict == Verdict.REVISE), None)
    return review_of(reviewed).all_issues if reviewed is not None else []


def _inputs(subtask: Subtask) -> list[Result]:
    """The results that a subtask depends on."""
    needed = [row for row in completed(subtask.run) if row.key in subtask.depends_on]
    return results_of(needed, with_files=True)


def _reply(step: Step, model: Model) -> tuple[Message, ...]:
    run = step.run
    asked = Message("user", reply_prompt(_reply_context(run, model)))
    refused = refused_reply(step)
    if refused is None:
        return (asked,)
    repair = reply_repair_prompt(refused.result["faults"])
    return (asked, Message("assistant", refused.content), Message("user", repair))


def _reply_context(run: Run, model: Model) -> ReplyContext:
    final = run.deliverables.filter(subtask=None).first()
    return ReplyContext(
        goal=run.goal,
        roster=roster_of_run(run),
        max_subtasks=run.max_subtasks,
        title=run.plan_title,
        summary=run.plan_summary,
        final_instructions=run.final_instructions,
        parts=part_lines(run),
        messages=[each.body for each in run.rows.inbox.messages if each.number > run.answered],
        earlier=turns_before(run),
        repository=run.checkout.digest if run.checkout is not None else "",
        uploads=upload_heads(run),
        budget=budget_of(run),
        final_text=final.content if final is not None else "",
        room=_room(model),
    )


def _final_context(run: Run, model: Model) -> FinalContext:
    return FinalContext(
        goal=run.goal,
        summary="\n\n".join(filter(None, (run.plan_title, run.plan_summary))),
        instructions=run.final_instructions,
        results=results_of(completed(run)),
        missing=missing_parts(run),
        files=delivered_files(run),
        messages=messages_of_user(run),
        room=_room(model),
    )


def _files_as_text(attempt: Attempt) -> Sequence[str]:
    return [f"{file.path} ({file.op}):\n{file.content}" for file in attempt.files.order_by("path")]
