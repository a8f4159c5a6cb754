"""What the prompts of a run's steps are about."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from ai.catalog.types import Model
from ai.inference.bounds import output_bound
from ai.providers.types import Message
from media.files.errors import FileGone, StorageUnavailable
from media.files.models import Upload
from media.files.selectors.uploads import read_text
from projects.models import Attempt, AttemptFile, Run, Step, Subtask
from projects.outputs import mark_of
from projects.prompts.continuing import GO_ON
from projects.prompts.planning import PlanContext, planning_prompt, repair_prompt
from projects.prompts.replying import SubtaskLine, reply_prompt
from projects.prompts.reviewing import Point, Review, ReviewContext, review_prompt
from projects.prompts.working import (
    Result,
    Revision,
    Summary,
    WorkContext,
    final_prompt,
    revision_prompt,
    work_prompt,
)
from projects.selectors.answers import first_turn, text_before
from projects.selectors.candidate_models import roster_of_run
from projects.selectors.messages import messages_for_models
from projects.selectors.sources import sources_of
from projects.types import GOING_ON, AttemptReason, Outcome, StepKind, SubtaskStatus, Verdict

# Characters of all inputs of a prompt at most, and of the words around them.
MAX_CHARACTERS = 300_000
_WORDS = 20_000
# Fewer than ordinary text has: what fits by this estimate is sure to fit.
_BYTES_PER_TOKEN = 3
_NEWEST_NOTES = 20


def messages_for(step: Step, model: Model) -> tuple[Message, ...]:
    """The messages of a step. One that continues an answer is shown what there is of it."""
    asked, before = _question(step, model), text_before(step)
    if not before:
        return asked
    return (*asked, Message("assistant", before), Message("user", GO_ON))


def _question(step: Step, model: Model) -> tuple[Message, ...]:
    run = step.run
    match StepKind(step.kind):
        case StepKind.PLAN:
            return (Message("user", planning_prompt(_context(run))),)
        case StepKind.REPAIR:
            return _repair(run)
        case StepKind.WORK:
            return _work(step, model)
        case StepKind.REVIEW:
            return (Message("user", _review(step, model)),)
        case StepKind.REPLY:
            return (Message("user", _reply(run)),)
        case StepKind.FINAL:
            return (Message("user", _final(run, model)),)


def readable_uploads(run: Run) -> dict[str, str]:
    """The texts of the run's uploads that models can read, by name."""
    uploads = Upload.objects.filter(pk__in=run.uploads.values("upload"), is_text=True)
    texts = {}
    for upload in uploads.order_by("id"):
        try:
            texts[upload.name] = read_text(upload, limit_characters=MAX_CHARACTERS)
        except (FileGone, StorageUnavailable):
            continue
    return texts


def _room(model: Model) -> int:
    """Characters for the inputs of a prompt."""
    tokens = model.context_window - output_bound(model) - model.prompt_overhead_tokens
    return max(0, min(MAX_CHARACTERS, tokens * _BYTES_PER_TOKEN // 2 - _WORDS))


def _context(run: Run) -> PlanContext:
    names = Upload.objects.filter(pk__in=run.uploads.values("upload")).order_by("id")
    return PlanContext(
        goal=run.goal,
        roster=roster_of_run(run),
        max_subtasks=run.max_subtasks,
        max_parallel=run.max_parallel,
        repository=run.checkout.digest if run.checkout is not None else "",
        uploads=[f"{each.name} ({each.media_type}, {each.size} bytes)" for each in names],
        messages=_notes_of_user(run),
    )


def _repair(run: Run) -> tuple[Message, ...]:
    bad = run.steps.filter(kind=StepKind.PLAN, outcome=Outcome.DONE).latest("id")
    context = _context(run)
    return (
        Message("user", planning_prompt(context)),
        Message("assistant", bad.content),
        Message("user", repair_prompt(context, bad.result["faults"])),
    )


def _work(step: Step, model: Model) -> tuple[Message, ...]:
    subtask = step.subtask
    assert subtask is not None  # noqa: S101 - work has one
    mark = mark_of(first_turn(step).pk)
    first = Message("user", work_prompt(_work_context(step.run, subtask, model, mark)))
    before = _to_revise(subtask, step)
    if before is None:
        return (first,)
    review = _review_of(before)
    revision = Revision(text=before.body, issues=review.all_issues)
    text = "\n\n".join(filter(None, (before.body, *_files_as_text(before))))
    return (first, Message("assistant", text), Message("user", revision_prompt(revision, mark)))


def _work_context(run: Run, subtask: Subtask, model: Model, mark: str) -> WorkContext:
    done = _completed(run)
    inputs = [each for each in done if each.key in subtask.depends_on]
    return WorkContext(
        goal=run.goal,
        title=subtask.title,
        instructions=subtask.instructions,
        acceptance=subtask.acceptance,
        output=subtask.output,
        writes=subtask.writes,
        inputs=_results(inputs, with_files=True),
        others=[_summary(each) for each in done if each not in inputs],
        notes=[*_notes_of_user(run), *subtask.notes],
        uploads=readable_uploads(run),
        sources=sources_of(subtask),
        mark=mark,
        room=_room(model),
    )


def _to_revise(subtask: Subtask, step: Step) -> Attempt | None:
    """The attempt that a work step is to revise: the latest one with a review that asks for it.
    None where the subtask begins again."""
    for attempt in reversed(subtask.run.rows.attempts_of(subtask)):
        if attempt.pk == step.attempt_id:
            continue
        if attempt.verdict == Verdict.REVISE:
            this = step.attempt.reason if step.attempt is not None else ""
            is_revision = this == AttemptReason.REVISION or this in GOING_ON
            return attempt if is_revision else None
        if attempt.reason != AttemptReason.REVISION and attempt.reason not in GOING_ON:
            return None
    return None


def _review(step: Step, model: Model) -> str:
    subtask, attempt = step.subtask, step.attempt
    assert subtask is not None and attempt is not None  # noqa: S101, PT018 - a review has both
    return review_prompt(
        ReviewContext(
            goal=step.run.goal,
            title=subtask.title,
            instructions=subtask.instructions,
            acceptance=subtask.acceptance,
            body=attempt.body,
            files={file.path: file.content for file in attempt.files.order_by("path")},
            faults=[
                ": ".join(filter(None, (each["path"], each["message"]))) for each in attempt.faults
            ],
            room=_room(model),
        )
    )


def _reply(run: Run) -> str:
    lines = [
        SubtaskLine(
            each.key,
            each.title,
            each.status,
            each.depends_on,
            each.current.summary if each.current is not None else "",
        )
        for each in run.rows.subtasks.values()
    ]
    asked = [each.body for each in run.rows.inbox.messages if each.number > run.answered]
    return reply_prompt(goal=run.goal, roster=roster_of_run(run), subtasks=lines, messages=asked)


def _final(run: Run, model: Model) -> str:
    return final_prompt(
        goal=run.goal,
        instructions=run.final_instructions,
        results=_results(_completed(run)),
        room=_room(model),
    )


def _completed(run: Run) -> list[Subtask]:
    """In topological order."""
    return [row for row in run.rows.subtasks.values() if row.status == SubtaskStatus.COMPLETED]


def _results(subtasks: Sequence[Subtask], *, with_files: bool = False) -> list[Result]:
    """The results of completed subtasks."""
    attempts = [each.current_id for each in subtasks if each.current_id is not None]
    bodies = dict(Attempt.objects.filter(pk__in=attempts).values_list("pk", "body"))
    files: defaultdict[UUID, dict[str, str]] = defaultdict(dict)
    if with_files:
        for file in AttemptFile.objects.filter(attempt__in=attempts).order_by("path"):
            files[file.attempt_id][file.path] = file.content
    return [
        Result(key=each.key, title=each.title, body=bodies[attempt], files=files[attempt])
        for each, attempt in zip(subtasks, attempts, strict=True)
    ]


def _summary(subtask: Subtask) -> Summary:
    text = subtask.current.summary if subtask.current is not None else ""
    return Summary(key=subtask.key, title=subtask.title, text=text)


def _notes_of_user(run: Run) -> list[str]:
    return messages_for_models(run)[-_NEWEST_NOTES:]


def _review_of(attempt: Attempt) -> Review:
    points = attempt.review.get("points", [])
    return Review(
        Verdict(attempt.verdict),
        tuple(Point(**each) for each in points),
        tuple(attempt.review.get("issues", [])),
    )


def _files_as_text(attempt: Attempt) -> Sequence[str]:
    return [f"{file.path}:\n{file.content}" for file in attempt.files.order_by("path")]
