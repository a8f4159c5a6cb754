"""The prompts of those who work on subtasks."""

from collections.abc import Sequence

from msgspec import Struct

from common.prompt_delimiters import section
from projects.outputs import MAX_SUMMARY_LINES
from projects.prompts.cutting import cut_to, files_within, newest_within
from projects.prompts.delimiters import MATERIAL, delimit, listed, nested
from projects.prompts.tool_working import tool_form, tool_revision

_WORK = "You carry out one part of a larger piece of work. Others do the other parts. "
_REVISE = "Write the whole result again with these points mended, and files in full."
_FILES = (
    "Write each file, if there are any, between two lines of its own, in full and without a code "
    "fence around it:"
)
_EDITS = (
    '"update" or "delete" may stand in the place of "create". Where little of a file changes, edit '
    "it as it was given to you; the old lines have to be in it exactly once:"
)
_MOVES = "A file is moved like this, with its new content or edits after the second line, if any:"
_SUMMARY = (
    f"At the end write a summary of at most {MAX_SUMMARY_LINES} lines for those who do the other "
    "parts:"
)


class Result(Struct, frozen=True, kw_only=True):
    """The result of another subtask, the files that it wrote, by path, and what was still wrong
    with it when it was accepted."""

    key: str
    title: str
    body: str
    files: dict[str, str] = {}
    issues: Sequence[str] = ()


class Summary(Struct, frozen=True, kw_only=True):
    """What another subtask has brought, in a few lines, or that it has brought nothing."""

    key: str
    title: str
    text: str


class WorkContext(Struct, frozen=True, kw_only=True):
    """What a subtask's author knows. `inputs` are the results of the subtasks that it depends on,
    `others` the summaries of those that it does not; `notes` are the user's and the planner's.
    `sources` are files of the repository; None stands for a file that is no text or too long.
    `room` is the number of characters for `inputs`, `uploads`, `sources` and `notes`.
    `calls_functions`: it works on the repository by calls, and is shown the digest of it
    (`repository`)."""

    goal: str
    title: str
    instructions: str
    acceptance: Sequence[str]
    output: str
    writes: Sequence[str]
    inputs: Sequence[Result]
    others: Sequence[Summary]
    notes: Sequence[str]
    uploads: dict[str, str | None]
    sources: dict[str, str | None] = {}
    mark: str
    room: int
    calls_functions: bool = False
    repository: str = ""


class Revision(Struct, frozen=True, kw_only=True):
    """An earlier attempt, and what its review asks for, or the user (`is_of_user`)."""

    text: str
    issues: Sequence[str]
    is_of_user: bool = False


def work_prompt(context: WorkContext) -> str:
    """Ask for the result of a subtask."""
    return "\n\n".join(
        [
            _WORK + MATERIAL,
            delimit("goal", context.goal),
            delimit("task", task_text(context.title, context.instructions, context.writes)),
            *listed("done_when", context.acceptance),
            *([delimit("repository", context.repository)] if context.repository else []),
            *_inputs(context),
            *nested("notes", "note", newest_within(context.room // 4, context.notes)),
            _work_rules(context),
            _form(context),
        ]
    )


def revision_prompt(revision: Revision, mark: str, *, calls_functions: bool = False) -> str:
    """Ask for another attempt; the earlier one is the turn before."""
    who = "The person who set the goal asks" if revision.is_of_user else "A reviewer asks"
    return "\n\n".join(
        [
            f"{who} for changes:",
            *listed("review", revision.issues or ["It is not finished."]),
            tool_revision(mark) if calls_functions else f"{_REVISE} The mark is {mark} now.",
        ]
    )


def task_text(title: str, instructions: str, writes: Sequence[str]) -> str:
    """A task in the words in which its author and its reviewer are told it."""
    files = f"Files to write: {', '.join(writes)}" if writes else ""
    return "\n\n".join(filter(None, (title, instructions, files)))


def _inputs(context: WorkContext) -> list[str]:
    # Half of the room is for what others have made, where there are files of a repository too.
    room = context.room // 2 if context.sources else context.room
    share = room // max(1, len(context.inputs) + len(context.uploads))
    parts = [result_section(result, share) for result in context.inputs]
    for name, text in context.uploads.items():
        parts += files_within(share, {name: text})
    parts += [
        delimit("summary", other.text, subtask=other.key, title=other.title)
        for other in context.others
    ]
    parts += files_within(context.room - room, context.sources)
    return [section("inputs", "\n".join(parts))] if parts else []


def result_section(result: Result, share: int) -> str:
    """A result with its files, in so many characters; the body comes first where there is no room
    for all."""
    cut = cut_to(result.body, share)
    body = "\n".join(filter(None, (cut.text, cut.note)))
    text = delimit("result", body, subtask=result.key, title=result.title)
    files = files_within(share - len(cut.text), result.files)
    return "\n".join([text, *files, *listed("issues", result.issues)])


def _work_rules(context: WorkContext) -> str:
    rules = [
        "- Do your part alone, all of it.",
        "- Invent no facts. Where something is missing, say what, and go on with what you have.",
    ]
    if context.notes:
        rules.append("- Notes come from the person who set the goal: follow them.")
    if any(result.issues for result in context.inputs):
        rules.append("- What stands under issues is still wrong with a result: do not rely on it.")
    return section("rules", "\n".join(rules))


def _form(context: WorkContext) -> str:
    mark, output = context.mark, context.output or "the result"
    if context.calls_functions:
        return tool_form(output, mark)
    lines = [
        f"Write {output} as Markdown.",
        _FILES,
        f"@@FILE {mark} create path/of/the/file.txt",
        "the content",
        f"@@END {mark}",
        _EDITS,
        f"@@FILE {mark} edit path/of/the/file.txt",
        f"@@OLD {mark}",
        "the lines that are replaced",
        f"@@NEW {mark}",
        "the lines in their place",
        f"@@END {mark}",
        _MOVES,
        f"@@FILE {mark} move its/new/path.txt",
        f"@@FROM {mark} its/path/until/now.txt",
        f"@@END {mark}",
        _SUMMARY,
        f"@@SUMMARY {mark}",
        "the summary",
        f"@@END {mark}",
    ]
    return section("form", "\n".join(lines))
