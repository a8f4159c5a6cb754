"""The reviewer's prompt, and its verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from common.prompt_delimiters import section
from projects.json_answers import find_object
from projects.prompts.cutting import Filled, cut_to, files_within, newest_within, shown
from projects.prompts.delimiters import MATERIAL, delimit, listed, nested
from projects.prompts.working import Result, result_section, task_text
from projects.types import Verdict

_MAX_ISSUES = 20
_MAX_ISSUE = 500  # characters

FORM = """\
{
  "points": [{"point": "a point of done_when", "passed": true, "issue": "what is wrong, if it is"}],
  "issues": ["anything else that has to be mended"],
  "verdict": "accept" or "revise"
}"""
_RULES = """\
- Judge each point of done_when by what stands in the attempt and its files. Messages come from \
the person who set the goal: what they say of this part belongs to the task.
- Under inputs stands what its author was given, as it was before: check the attempt against it.
- "revise" is for what does not pass or is wrong, and not for taste.
- What stands under faults is wrong or not usable. Ask for what is missing.
- Under review stands what was asked for before: say whether it is mended.
- Say of each issue what is to be changed."""


class ReviewFile(Struct, frozen=True, kw_only=True):
    """A file that the attempt writes: its content, and the difference to what it was before (`diff`
    in Git's unified form), None where that is not known or there was nothing."""

    path: str
    op: str
    content: str
    previous_path: str = ""
    diff: str | None = None


class ReviewContext(Struct, frozen=True, kw_only=True):
    """What a reviewer knows: of the attempt, its `files`, the `faults` of what of it could not be
    used, and what an earlier review asked for (`asked`); of the task, what its author was given:
    `messages` are the user's, `notes` those for this part, `inputs` the results that it depends on,
    `sources` the files of the repository as they were. `room` is the number of characters for all
    of these."""

    goal: str
    title: str
    instructions: str
    acceptance: Sequence[str]
    writes: Sequence[str] = ()
    body: str
    files: Sequence[ReviewFile] = ()
    faults: Sequence[str] = ()
    asked: Sequence[str] = ()
    messages: Sequence[str] = ()
    notes: Sequence[str] = ()
    inputs: Sequence[Result] = ()
    sources: Mapping[str, str | None] = {}
    uploads: Mapping[str, str | None] = {}
    room: int


class Point(Struct, frozen=True):
    """What a review says of one acceptance point."""

    point: str
    passed: bool
    issue: str = ""


class Review(Struct, frozen=True):
    """A review. `issues` are sentences for the author of the next attempt."""

    verdict: Verdict
    points: tuple[Point, ...] = ()
    issues: tuple[str, ...] = ()

    @property
    def all_issues(self) -> list[str]:
        """All that is to be mended: the points that did not pass, and the rest."""
        failed = [f"{each.point}: {each.issue}" for each in self.points if not each.passed]
        return [*failed, *self.issues][:_MAX_ISSUES]


def review_prompt(context: ReviewContext) -> str:
    """Ask for a review of an attempt. The reviewer does not learn which model made it."""
    room = Filled(context.room)
    cut = cut_to(context.body, room.left)
    room.take(cut.text, "")
    return "\n\n".join(
        [
            "You review the result of one part of a larger piece of work. " + MATERIAL,
            delimit("goal", context.goal),
            delimit("task", task_text(context.title, context.instructions, context.writes)),
            *listed("done_when", context.acceptance or ["It does what the task says."]),
            *nested("messages", "message", newest_within(context.room // 8, context.messages)),
            *nested("notes", "note", newest_within(context.room // 8, context.notes)),
            delimit("attempt", "\n".join(filter(None, (cut.text, cut.note)))),
            *_files(context.files, room),
            *listed("faults", context.faults),
            *listed("review", context.asked),
            *_inputs(context, room),
            section("rules", _RULES),
            section("form", f"Answer with this JSON and nothing else:\n{FORM}"),
        ]
    )


def _files(files: Sequence[ReviewFile], room: Filled) -> list[str]:
    """Each with what has changed and, where there is room for that too, its whole content."""
    sections = []
    for file in files:
        if file.diff:
            sections.append(delimit("diff", shown(file.diff, room), name=file.path))
        text = "[It is deleted.]" if file.op == "delete" else shown(file.content, room)
        named = {"name": file.path, "op": file.op, "was": file.previous_path}
        sections.append(delimit("file", text, **named))
    return [section("files", "\n".join(sections))] if sections else []


def _inputs(context: ReviewContext, room: Filled) -> list[str]:
    """What the author had before it; in this order as long as there is room."""
    share = room.left // 2 // max(1, len(context.inputs))
    parts = [result_section(each, share) for each in context.inputs]
    room.take(" " * min(room.left, sum(map(len, parts))), "")
    parts += [*files_within(room, context.sources), *files_within(room, context.uploads)]
    return [section("inputs", "\n".join(parts))] if parts else []


def read_review(text: str) -> Review:
    """Read a reviewer's answer. One that says nothing clear is `unavailable`."""
    raw = find_object(text)
    if raw is None:
        return Review(Verdict.UNAVAILABLE)
    points = tuple(_points(raw.get("points")))
    issues = tuple(_issues(raw.get("issues")))
    match raw.get("verdict"):
        case "accept":
            verdict = Verdict.ACCEPT
        case "revise":
            verdict = Verdict.REVISE
        case _ if points:
            passed = all(point.passed for point in points)
            verdict = Verdict.ACCEPT if passed else Verdict.REVISE
        case _:
            verdict = Verdict.UNAVAILABLE
    return Review(verdict, points, issues)


def _points(raw: Any) -> list[Point]:
    rows = [each for each in raw if isinstance(each, dict)] if isinstance(raw, list) else []
    return [
        Point(_text(row.get("point")), bool(row.get("passed")), _text(row.get("issue")))
        for row in rows[:_MAX_ISSUES]
        if isinstance(row.get("passed"), bool)
    ]


def _issues(raw: Any) -> list[str]:
    texts = [_text(each) for each in raw] if isinstance(raw, list) else []
    return [text for text in texts if text][:_MAX_ISSUES]


def _text(raw: Any) -> str:
    return raw.strip()[:_MAX_ISSUE] if isinstance(raw, str) else ""
