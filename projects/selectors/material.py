"""What the steps of a run are told of it: what was planned, has been made, and is still wrong."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from billing.selectors.groups import remaining_budget
from media.files.errors import FileGone, StorageUnavailable
from media.files.models import Upload
from media.files.selectors.uploads import read_text
from projects.models import Attempt, AttemptFile, Run, Subtask
from projects.prompts.planning import Budget, UploadHead
from projects.prompts.replying import PartLine, Turn
from projects.prompts.reviewing import Point, Review
from projects.prompts.working import Result, Summary
from projects.selectors.files import staged_files
from projects.selectors.messages import messages_for_models, messages_of
from projects.types import SubtaskStatus, Verdict

# Characters of all inputs of a prompt at most.
MAX_CHARACTERS = 300_000
# Characters of an upload that its planner sees; the prompt may have room for less.
_BEGINNING = 2_100
_NEWEST_MESSAGES = 20
_NEWEST_NOTES = 5
_FIELDS = (
    *("key", "title", "instructions", "acceptance", "depends_on"),
    *("model", "output", "reads", "writes"),
)
_WITHOUT_RESULT = {
    SubtaskStatus.FAILED: "it has failed.",
    SubtaskStatus.SKIPPED: "it could not begin, because a part that it needs has no result.",
    SubtaskStatus.CANCELLED: "it was cancelled.",
}


# --- What the user has given ----------------------------------------------------------------------


def messages_of_user(run: Run) -> list[str]:
    """The newest messages of the user, the earliest first."""
    return messages_for_models(run)[-_NEWEST_MESSAGES:]


def turns_before(run: Run) -> list[Turn]:
    """The messages that the planner has answered, with its replies."""
    roles = {"user": "message", "planner": "reply"}
    messages = [each for each in messages_of(run) if each.number <= run.answered]
    return [Turn(roles[each.role], each.content) for each in messages[-2 * _NEWEST_MESSAGES :]]


def readable_uploads(run: Run) -> dict[str, str | None]:
    """The texts of the run's uploads, by name; None for what models cannot read."""
    return {each.name: _text_of(each, MAX_CHARACTERS) for each in _uploads(run)}


def upload_heads(run: Run) -> list[UploadHead]:
    """The run's uploads with their beginnings."""
    return [
        UploadHead(
            name=each.name,
            media_type=each.media_type,
            size=each.size,
            text=_text_of(each, _BEGINNING),
        )
        for each in _uploads(run)
    ]


def budget_of(run: Run) -> Budget | None:
    """What the run may cost, and what is left of it; None where its user has set no bound."""
    if run.budget is None:
        return None
    return Budget(run.budget, remaining_budget(run.pk) or 0)


def _uploads(run: Run) -> QuerySet[Upload]:
    return Upload.objects.filter(pk__in=run.uploads.values("upload")).order_by("id")


def _text_of(upload: Upload, characters: int) -> str | None:
    if not upload.is_text:
        return None
    try:
        return read_text(upload, limit_characters=characters)
    except (FileGone, StorageUnavailable):
        return None


# --- What the parts have brought ------------------------------------------------------------------


def completed(run: Run) -> list[Subtask]:
    """The subtasks with a result, in topological order."""
    return [row for row in run.rows.subtasks.values() if row.status == SubtaskStatus.COMPLETED]


def results_of(subtasks: Sequence[Subtask], *, with_files: bool = False) -> list[Result]:
    """The results of completed subtasks, and what is still wrong with them."""
    attempts = [each.current_id for each in subtasks if each.current_id is not None]
    bodies = dict(Attempt.objects.filter(pk__in=attempts).values_list("pk", "body"))
    files: defaultdict[UUID, dict[str, str]] = defaultdict(dict)
    if with_files:
        for file in AttemptFile.objects.filter(attempt__in=attempts).order_by("path"):
            files[file.attempt_id][file.path] = file.content
    return [
        Result(
            key=each.key,
            title=each.title,
            body=bodies[attempt],
            files=files[attempt],
            issues=open_issues(each),
        )
        for each, attempt in zip(subtasks, attempts, strict=True)
    ]


def summaries_of_others(subtask: Subtask) -> list[Summary]:
    """What the subtasks have brought that this one does not depend on, or that they have not."""
    others = [
        row
        for row in subtask.run.rows.subtasks.values()
        if row.pk != subtask.pk and row.key not in subtask.depends_on
    ]
    return [Summary(key=each.key, title=each.title, text=_brought(each)) for each in others]


def _brought(subtask: Subtask) -> str:
    if subtask.status == SubtaskStatus.COMPLETED:
        return subtask.current.summary if subtask.current is not None else ""
    if subtask.status in _WITHOUT_RESULT:
        return "[It has no result.]"
    return "[It is not done yet.]"


def open_issues(subtask: Subtask) -> list[str]:
    """What is still wrong with a result that was accepted all the same."""
    attempt = subtask.current
    if attempt is None or not subtask.needs_attention:
        return []
    return [*(review_of(attempt).all_issues if attempt.verdict else []), *faults_of(attempt)]


def faults_of(attempt: Attempt) -> list[str]:
    """What of an attempt could not be used, or did not come, each in a sentence."""
    return [
        ": ".join(filter(None, (each["path"], each["message"]))) for each in attempt.open_faults
    ]


def review_of(attempt: Attempt) -> Review:
    """What was said of an attempt that was reviewed."""
    points = attempt.review.get("points", [])
    return Review(
        Verdict(attempt.verdict),
        tuple(Point(**each) for each in points),
        tuple(attempt.review.get("issues", [])),
    )


def missing_parts(run: Run) -> list[str]:
    """The subtasks without a result, each with the reason."""
    rows = [row for row in run.rows.subtasks.values() if row.status != SubtaskStatus.COMPLETED]
    return [f"{row.title}: {reason_of(row) or 'it was not done.'}" for row in rows]


def reason_of(subtask: Subtask) -> str:
    """Why a subtask has no result, in a sentence; empty where it has one, or may get one."""
    if subtask.status == SubtaskStatus.COMPLETED:
        return ""
    said = _WITHOUT_RESULT.get(SubtaskStatus(subtask.status), "")
    attempt = subtask.current
    error = subtask.error or (attempt.error if attempt is not None else None)
    return " ".join(filter(None, (said, (error or {}).get("message", ""))))


def delivered_files(run: Run) -> list[str]:
    """The files that the run delivers, each with what is done to it."""
    return [_done_to(file) for file in staged_files(run)]


def part_lines(run: Run) -> list[PartLine]:
    """All subtasks, as the planner is shown them."""
    files: defaultdict[UUID, list[str]] = defaultdict(list)
    for file in staged_files(run):
        files[file.attempt.subtask_id].append(_done_to(file))
    return [
        PartLine(
            fields={name: getattr(row, name) for name in _FIELDS},
            status=row.status,
            result=row.current.summary if row.current is not None else "",
            issues=_issues_of(row),
            notes=row.notes[-_NEWEST_NOTES:],
            files=files[row.pk],
            error=reason_of(row),
        )
        for row in run.rows.subtasks.values()
    ]


def _issues_of(subtask: Subtask) -> list[str]:
    """What the latest review asks for, or what is still open."""
    attempt = subtask.current
    if attempt is None or not attempt.verdict:
        return faults_of(attempt) if attempt is not None else []
    return [*review_of(attempt).all_issues, *faults_of(attempt)]


def _done_to(file: AttemptFile) -> str:
    return f"{file.path} ({file.op})"
