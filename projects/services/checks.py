"""Checks the files of an author's answer before the end of its step is written: it takes a while,
and does not hold the run."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import structlog
from django.db import connection
from msgspec.structs import asdict

from ai.providers.types import ToolCall
from common.threads import release_connection
from projects.checks.checking import Written, faults_of
from projects.models import Step
from projects.outputs import FileFault, OutputFile
from projects.selectors.sources import current_contents, nameable_files
from projects.selectors.staged import staged_rows
from projects.services.author_turns import answer_in_words, files_after
from projects.services.staging import read_work
from projects.types import StepKind

# No answer without this has a file, unless it continues one.
_FILE: Final = "@@FILE "

log = structlog.get_logger(__name__)


def may_have_files(text: str, calls: Sequence[ToolCall], *, is_continuing: bool) -> bool:
    """Whether `check_answer` can find anything to check in an answer."""
    return is_continuing or bool(calls) or _FILE in text


def check_answer(step_id: UUID, text: str, calls: Sequence[ToolCall] = ()) -> None:
    """Note with a step of an author what is wrong in the files of its answer, whose last turn has
    that text, and asks for these calls. Blocks as long as `faults_of`."""
    try:
        _check(step_id, text, calls)
    # Whatever happens here, the answer is paid for and counts.
    except Exception:
        log.exception("projects.files_not_checked", step_id=str(step_id))
    finally:
        # The thread is kept for other services, and a connection that it keeps would be idle.
        connection.close()


def noted_faults(step: Step) -> list[FileFault]:
    return [FileFault(**each) for each in step.result.get("faults", [])]


def _check(step_id: UUID, text: str, calls: Sequence[ToolCall]) -> None:
    rows = Step.objects.select_related("run__checkout", "run__account")
    found = rows.filter(pk=step_id, kind=StepKind.WORK, ended_at=None).first()
    if found is None:
        return
    step = found.run.rows.steps.get(step_id)
    if step is None or step.subtask is None:
        return
    if calls:
        files = files_after(step, calls)
    else:
        _, files, _ = read_work(step, answer_in_words(step, text))
    if not files:
        return
    subtask = step.subtask
    sources = {file.path: file.previous_path or file.path for file in files}
    before = current_contents(subtask, sources.values())
    written = [
        Written(file.path, file.content, before.get(sources[file.path]))
        for file in files
        if file.op != "delete"
    ]
    paths = _paths(step, files)
    release_connection()
    faults = faults_of(written, paths)
    if faults:
        result = {**step.result, "faults": [asdict(each) for each in faults]}
        Step.objects.filter(pk=step_id, ended_at=None).update(result=result)


def _paths(step: Step, files: list[OutputFile]) -> set[str]:
    """All files that there are, or that the plan says will be."""
    run = step.run
    staged = staged_rows(run).exclude(op="delete").values_list("path", flat=True)
    there = {*nameable_files(run), *staged}
    planned = {path for subtask in run.rows.subtasks.values() for path in subtask.writes}
    gone = {each.path for each in files if each.op == "delete"}
    return (there - gone) | planned | {each.path for each in files if each.op != "delete"}
