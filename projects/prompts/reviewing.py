"""The reviewer's prompt, and its verdict."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from common.prompt_delimiters import section
from projects.json_answers import find_object
from projects.prompts.cutting import cut_to, files_within
from projects.prompts.delimiters import MATERIAL, delimit
from projects.types import Verdict

_MAX_ISSUES = 20
_MAX_ISSUE = 500  # characters

FORM = """\
{
  "points": [{"point": "a point of done_when", "passed": true, "issue": "what is wrong, if it is"}],
  "issues": ["anything else that has to be mended"],
  "verdict": "accept" or "revise"
}"""


class ReviewContext(Struct, frozen=True, kw_only=True):
    """What a reviewer knows. `files` are those of the attempt, by path, and `faults` what of it
    could not be used; `room` is the number of
    characters for the attempt."""

    goal: str
    title: str
    instructions: str
    acceptance: Sequence[str]
    body: str
    files: dict[str, str]
    faults: Sequence[str] = ()
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
    cut = cut_to(context.body, context.room)
    points = (
        "\n".join(f"- {each}" for each in context.acceptance) or "- It does what the task says."
    )
    return "\n\n".join(
        [
            "You review the result of one part of a larger piece of work. " + MATERIAL,
            delimit("goal", context.goal),
            delimit("task", f"{context.title}\n\n{context.instructions}"),
            delimit("done_when", points),
            delimit("attempt", "\n".join(filter(None, (cut.text, cut.note)))),
            *files_within(context.room - len(cut.text), context.files),
            *[delimit("faults", "\n".join(f"- {each}" for each in context.faults))]
            * bool(context.faults),
            section(
                "rules",
                "- Judge each point of done_when by what stands in the attempt and its files.\n"
                '- "revise" is for what does not pass or is wrong, and not for taste.\n'
                "- What stands under faults could not be used. Ask for what is missing.\n"
                "- Say of each issue what is to be changed.",
            ),
            section("form", f"Answer with this JSON and nothing else:\n{FORM}"),
        ]
    )


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
