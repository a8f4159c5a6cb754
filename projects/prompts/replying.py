"""The planner's answer to messages of the user: a reply, notes to subtasks, changes of the plan."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from common.prompt_delimiters import section
from projects.json_answers import find_object
from projects.prompts.delimiters import MATERIAL, delimit
from projects.prompts.planning import RosterModel, roster_section

_MAX_REPLY = 4_000  # characters
_MAX_NOTE = 2_000
_MAX_NOTES = 12

FORM = """\
{
  "reply": "what you answer the person, in one or two sentences",
  "notes": [{"subtask": "a key", "text": "what its author is to know"}],
  "add": [{"key": "...", "title": "...", "instructions": "...", "acceptance": [], "depends_on": [],
           "model": null, "writes": []}],
  "change": [{"key": "a subtask that has not begun", "instructions": "..."}],
  "remove": ["the key of a subtask that has not begun"]
}"""


class SubtaskLine(Struct, frozen=True):
    """A subtask as the planner sees it."""

    key: str
    title: str
    status: str
    depends_on: Sequence[str]
    summary: str

    @property
    def text(self) -> str:
        after = f", after {', '.join(self.depends_on)}" if self.depends_on else ""
        head = f"{self.key}: {self.title} ({self.status}{after})"
        return "\n".join(filter(None, (head, self.summary)))


class Note(Struct, frozen=True):
    """A note for the author of a subtask."""

    key: str
    text: str


class Reply(Struct, frozen=True, kw_only=True):
    """The planner's answer. `add` and `change` are subtasks as in a plan, not checked yet."""

    text: str
    notes: tuple[Note, ...] = ()
    add: tuple[dict[str, Any], ...] = ()
    change: tuple[dict[str, Any], ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def changes_plan(self) -> bool:
        return bool(self.add or self.change or self.remove)


def reply_prompt(
    *,
    goal: str,
    roster: Sequence[RosterModel],
    subtasks: Sequence[SubtaskLine],
    messages: Sequence[str],
) -> str:
    """Ask the planner to answer messages."""
    plan = "\n".join(delimit("subtask", line.text) for line in subtasks)
    asked = "\n".join(delimit("message", text) for text in messages)
    return "\n\n".join(
        [
            "You have planned the work on a goal, and models carry it out. The person who set the "
            "goal writes to you while they work. " + MATERIAL,
            delimit("goal", goal),
            roster_section(roster),
            section("plan", plan),
            section("messages", asked),
            section(
                "rules",
                "- The messages come from the person: do what they ask.\n"
                "- Only subtasks that are queued can be changed or removed. A note reaches the "
                "author of a subtask with the next call.\n"
                "- Change nothing that nobody asked for. Often a reply is enough.",
            ),
            section("form", f"Answer with this JSON and nothing else:\n{FORM}"),
        ]
    )


def read_reply(text: str) -> Reply:
    """Read the planner's answer. One that is no JSON is the reply itself."""
    raw = find_object(text)
    if raw is None:
        return Reply(text=text.strip()[:_MAX_REPLY])
    return Reply(
        text=_text(raw.get("reply"))[:_MAX_REPLY],
        notes=tuple(_notes(raw.get("notes"))),
        add=tuple(each for each in _list(raw.get("add")) if isinstance(each, dict)),
        change=tuple(each for each in _list(raw.get("change")) if isinstance(each, dict)),
        remove=tuple(each for each in _list(raw.get("remove")) if isinstance(each, str)),
    )


def _notes(raw: Any) -> list[Note]:
    rows = [each for each in _list(raw) if isinstance(each, dict)]
    notes = [Note(_text(row.get("subtask")), _text(row.get("text"))[:_MAX_NOTE]) for row in rows]
    return [note for note in notes if note.key and note.text][:_MAX_NOTES]


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _text(raw: Any) -> str:
    return raw.strip() if isinstance(raw, str) else ""
