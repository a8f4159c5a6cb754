"""The prompts of those who work on subtasks, and of the one who makes the final text."""

from collections.abc import Sequence

from msgspec import Struct

from common.prompt_delimiters import section
from projects.outputs import MAX_SUMMARY_LINES
from projects.prompts.cutting import cut_to, files_within
from projects.prompts.delimiters import MATERIAL, delimit

_WORK = "You carry out one part of a larger piece of work. Others do the other parts. "
_FINAL = (
    "Several models have each done a part of the work on a goal. Make one result of their parts, "
    "for the person who set the goal. "
)
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
    """The result of another subtask, and the files that it wrote, by path."""

    key: str
    title: str
    body: str
    files: dict[str, str] = {}


class Summary(Struct, frozen=True, kw_only=True):
    """What another subtask has brought, in a few lines."""

    key: str
    title: str
    text: str


class WorkContext(Struct, frozen=True, kw_only=True):
    """What a subtask's author knows. `inputs` are the results of the subtasks that it depends on,
    `others` the summaries of those that it does not; `notes` are the user's and the planner's.
    `sources` are files of the repository, None where one is no text or too long. `room` is the
    number of characters for `inputs`, `uploads` and `sources`."""

    goal: str
    title: str
    instructions: str
    acceptance: Sequence[str]
    output: str
    writes: Sequence[str]
    inputs: Sequence[Result]
    others: Sequence[Summary]
    notes: Sequence[str]
    uploads: dict[str, str]
    sources: dict[str, str | None] = {}
    mark: str
    room: int


class Revision(Struct, frozen=True, kw_only=True):
    """An earlier attempt, and what its review asks for."""

    text: str
    issues: Sequence[str]


def work_prompt(context: WorkContext) -> str:
    """Ask for the result of a subtask."""
    return "\n\n".join(
        [
            _WORK + MATERIAL,
            delimit("goal", context.goal),
            delimit("task", _task(context)),
            *_points(context.acceptance),
            *_inputs(context),
            *_notes(context.notes),
            _work_rules(context),
            _form(context),
        ]
    )


def revision_prompt(revision: Revision, mark: str) -> str:
    """Ask for another attempt; the earlier one is the turn before."""
    issues = "\n".join(f"- {issue}" for issue in revision.issues) or "- It is not finished."
    return "\n\n".join(
        [
            "A reviewer asks for changes:",
            delimit("review", issues),
            f"{_REVISE} The mark is {mark} now.",
        ]
    )


def final_prompt(*, goal: str, instructions: str, results: Sequence[Result], room: int) -> str:
    """Ask for the text that makes one result of the subtasks'."""
    share = room // max(1, len(results))
    return "\n\n".join(
        [
            _FINAL + MATERIAL,
            delimit("goal", goal),
            section("inputs", "\n".join(_result(result, share) for result in results)),
            delimit("task", instructions or "Join the results. Leave out nothing of substance."),
            section(
                "rules",
                "- Write the result itself, in Markdown, and nothing about how it came about.\n"
                "- Where parts contradict each other, say so.\n"
                "- Add no facts that no part has. Where something is missing, say what.\n"
                "- Files are delivered beside your text: name them, do not repeat them.",
            ),
        ]
    )


def _task(context: WorkContext) -> str:
    files = f"Files to write: {', '.join(context.writes)}" if context.writes else ""
    return "\n\n".join(filter(None, (context.title, context.instructions, files)))


def _points(acceptance: Sequence[str]) -> list[str]:
    return [delimit("done_when", "\n".join(f"- {each}" for each in acceptance))] * bool(acceptance)


def _inputs(context: WorkContext) -> list[str]:
    # Half of the room is for what others have made, where there are files of a repository too.
    room = context.room // 2 if context.sources else context.room
    share = room // max(1, len(context.inputs) + len(context.uploads))
    parts = [_result(result, share) for result in context.inputs]
    for name, text in context.uploads.items():
        parts += files_within(share, {name: text})
    parts += [
        delimit("summary", other.text, subtask=other.key, title=other.title)
        for other in context.others
    ]
    parts += files_within(context.room - room, context.sources)
    return [section("inputs", "\n".join(parts))] if parts else []


def _result(result: Result, share: int) -> str:
    """A result with its files; the body comes first where there is no room for all."""
    cut = cut_to(result.body, share)
    body = "\n".join(filter(None, (cut.text, cut.note)))
    text = delimit("result", body, subtask=result.key, title=result.title)
    return "\n".join([text, *files_within(share - len(cut.text), result.files)])


def _notes(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    return [section("notes", "\n".join(delimit("note", note) for note in notes))]


def _work_rules(context: WorkContext) -> str:
    rules = [
        "- Do your part alone, all of it.",
        "- Invent no facts. Where something is missing, say what, and go on with what you have.",
    ]
    if context.notes:
        rules.append("- Notes come from the person who set the goal: follow them.")
    return section("rules", "\n".join(rules))


def _form(context: WorkContext) -> str:
    mark, output = context.mark, context.output or "the result"
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
