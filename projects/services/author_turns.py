"""Carries out what authors ask for on a repository: the calls of a turn before the next one begins,
or when the last one has ended."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ai.providers.types import ToolCall
from events.types import NewEvent
from projects import events
from projects.author_tools.arguments import FINISH, Finish, told_of
from projects.author_tools.calls import (
    StoredCall,
    carried_out,
    finish_of,
    read_calls,
    stored,
    with_calls,
)
from projects.models import Step
from projects.outputs import FileFault, Output, OutputFile, mark_of, read_output, summary_of
from projects.selectors.answers import first_turn
from projects.selectors.tool_turns import (
    Turn,
    calls_before,
    calls_of,
    open_calls,
    read_turns,
    since_calls,
)
from projects.selectors.working_copies import working_copy_of
from projects.services import attempts


class Ending(Struct, frozen=True, kw_only=True):
    """What the calls of a turn that has ended mean. `goes_on`: the author has to be told of their
    results. `finish` is what it has handed in, None where it has not; `is_void`: nobody wants it
    any more."""

    goes_on: bool = False
    is_void: bool = False
    finish: Finish | None = None
    events: Sequence[NewEvent] = ()


def carry_out_before(step: Step) -> list[NewEvent]:
    """Carry out the calls of the turn that a step continues, unless that was done. Returns the
    events."""
    if not open_calls(step):
        return []
    turn = Step.objects.get(pk=step.continues_id or step.pk)
    return _carry_out(turn, step, read_calls(turn.result))


def end_turn(step: Step, *, is_last: bool) -> Ending:
    """What the calls of a turn that has just ended mean. The author goes on unless it finishes and
    no other call was refused, or this is its last turn."""
    calls = read_calls(step.result)
    if not is_last and not any(call.name == FINISH for call in calls):
        return Ending(goes_on=True)
    attempt, subtask = step.attempt, step.subtask
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - work has both
    turns = read_turns(step)
    copy = working_copy_of(attempt, subtask, calls, before=calls_of(turns))
    done = carried_out(copy, calls, before=calls_before(turns, step.model))
    if not is_last and any(call.result is not None and not call.result.ok for call in done):
        return Ending(goes_on=True)
    attempts.replace_files(attempt=attempt, files=copy.files)
    step.result = with_calls(step.result, done)
    return Ending(finish=finish_of(done), events=_told(step, len(calls_of(turns)), done))


def answer_of(step: Step, ending: Ending | None) -> Output:
    """What an author has brought: what it has handed in, or else written in words since its last
    calls, with the files in it. What stands beside calls announces these, and is no result."""
    turns = read_turns(step)
    if ending is not None and ending.finish is not None:
        finish = ending.finish
        return Output(
            body=finish.result,
            summary=summary_of(finish.summary or finish.result),
            faults=tuple(_refused_files(step, turns)),
        )
    answer = answer_in_words(step, step.content)
    return answer if ending is None else replace(answer, body="", summary="")


def answer_in_words(step: Step, text: str) -> Output:
    """The answer of an author whose last turn has that text."""
    before = "".join(turn.text for turn in since_calls(read_turns(step)))
    return read_output(before + text, mark_of(first_turn(step).pk))


def files_after(step: Step, asked: Sequence[ToolCall]) -> list[OutputFile]:
    """The files of an author whose last turn asks for these calls, if it finishes."""
    calls, attempt, subtask = stored(asked), step.attempt, step.subtask
    if attempt is None or subtask is None or finish_of(calls) is None:
        return []
    turns = read_turns(step)
    copy = working_copy_of(attempt, subtask, calls, before=calls_of(turns))
    carried_out(copy, calls, before=calls_before(turns, step.model))
    return copy.files


def _refused_files(step: Step, turns: Sequence[Turn]) -> Iterator[FileFault]:
    """The files that the author was to write, and has tried to in vain: each with the last
    reason."""
    attempt, subtask = step.attempt, step.subtask
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - work has both
    missing = {*subtask.writes} - {*attempt.files.values_list("path", flat=True)}
    made = calls_of(turns) + read_calls(step.result)
    reasons: dict[str, str] = {}
    for call in made:
        path = told_of(call.name, call.arguments).path
        if path is not None and path in missing and call.result is not None and not call.result.ok:
            reasons[path] = call.result.text
    yield from (FileFault(path, reason) for path, reason in reasons.items())


def _carry_out(turn: Step, step: Step, calls: Sequence[StoredCall]) -> list[NewEvent]:
    """Carry out the calls of a turn into the files of the attempt of the step that continues it."""
    attempt, subtask = step.attempt, step.subtask
    assert attempt is not None and subtask is not None  # noqa: S101, PT018 - work has both
    turns = read_turns(step)
    copy = working_copy_of(attempt, subtask, calls, before=calls_of(turns))
    before = calls_before(turns, turn.model) - len(calls)
    done = carried_out(copy, calls, before=before)
    attempts.replace_files(attempt=attempt, files=copy.files)
    turn.result = with_calls(turn.result, done)
    turn.save(update_fields=["result"])
    return _told(step, len(calls_of(turns)) - len(calls), done)


def _told(step: Step, before: int, calls: Sequence[StoredCall]) -> list[NewEvent]:
    return [events.tool_called(step, before + n, call) for n, call in enumerate(calls, start=1)]
