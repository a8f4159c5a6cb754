"""The planner's answer to messages of the user: a reply, notes to subtasks, changes of the plan."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from common.prompt_delimiters import section
from projects.json_answers import find_object
from projects.prompts.cutting import beginning_of, newest_within
from projects.prompts.delimiters import MATERIAL, delimit, listed, nested
from projects.prompts.planning import (
    RULE_OF_READS,
    Budget,
    RosterModel,
    UploadHead,
    budget_section,
    repository_section,
    roster_section,
    uploads_section,
)
from projects.types import MAX_ACCEPTANCE, MAX_INSTRUCTIONS

_MAX_REPLY = 4_000  # characters
_MAX_NOTE = 2_000
_MAX_NOTES = 12
_MAX_FINAL_TEXT = 4_000

FORM = """\
{
  "reply": "what you answer the person, in one or two sentences",
  "notes": [{"subtask": "a key", "text": "what its author is to know"}],
  "add": [{"key": "...", "title": "...", "instructions": "...", "acceptance": [], "depends_on": [],
           "model": null, "reads": [], "writes": []}],
  "change": [{"key": "a queued subtask", "add_to_instructions": "what follows its instructions",
              "add_to_acceptance": ["another point"]}],
  "redo": [{"subtask": "a subtask that has ended", "note": "what is to be different"}],
  "remove": ["the key of a subtask that is queued or has no result"],
  "final_instructions": "how the results become one text, if that is to be different"
}"""
_RULES = f"""\
- The messages come from the person: do what they ask.
- Change nothing that nobody asked for. Often a reply is enough: leave out of the form what you do \
not need.
- A note reaches the author of a queued or running subtask with the next call.
- Only queued subtasks can be changed. What a change does not name stays as it is. \
`add_to_instructions` and `add_to_acceptance` add to what there is; any other field takes the \
place of what is shown, so write all of it. With new `instructions` that leave out most of the old \
ones, write "rewrite": true.
- Queued subtasks can be removed, and those that failed or were cancelled or skipped. Remove or \
change with them what depends on them.
- A subtask that is completed or failed is done again with `redo`, and after it all that depend on \
it.
- The results become one final text, with `final_instructions`. It is written again where a result \
or these change.
- Instructions have at most {MAX_INSTRUCTIONS} characters, and acceptance at most {MAX_ACCEPTANCE} \
points."""


class PartLine(Struct, frozen=True, kw_only=True):
    """A subtask as the planner sees it: `fields` are those of the plan; `result` is the summary of
    what it has brought, `issues` what is still wrong with it, `error` why it has none."""

    fields: dict[str, Any]
    status: str
    result: str = ""
    issues: Sequence[str] = ()
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    error: str = ""

    def text(self, room: int) -> str:
        """As JSON, in the form in which it can be changed. What does not fit is named."""
        state = {
            "status": self.status,
            "error": self.error,
            "result": self.result,
            "issues": [*self.issues],
            "files": [*self.files],
            "notes": [*self.notes],
        }
        shown: dict[str, Any] = {}
        left_out = []
        for name, value in ({**self.fields, **state}).items():
            room -= (size := len(json.dumps(value, ensure_ascii=False)))
            if room < 0 and name != "key":
                room += size
                left_out.append(name)
            elif value not in ("", [], None):
                shown[name] = value
        if left_out:
            shown["left out for want of room"] = left_out
        return json.dumps(shown, ensure_ascii=False, indent=1)


class Turn(Struct, frozen=True):
    """An earlier message of the person, or a reply."""

    role: str
    text: str


class ReplyContext(Struct, frozen=True, kw_only=True):
    """What the planner knows when it answers `messages`. `earlier` are the turns before;
    `final_text` is the beginning of what the run has made, if it has; `room` is the number of
    characters for all but the goal and the models."""

    goal: str
    roster: Sequence[RosterModel]
    max_subtasks: int
    title: str
    summary: str
    final_instructions: str
    parts: Sequence[PartLine]
    messages: Sequence[str]
    earlier: Sequence[Turn] = ()
    repository: str = ""
    uploads: Sequence[UploadHead] = ()
    budget: Budget | None = None
    final_text: str = ""
    room: int


class Note(Struct, frozen=True):
    """A note for the author of a subtask."""

    key: str
    text: str


class Reply(Struct, frozen=True, kw_only=True):
    """The planner's answer. `add` and `change` are subtasks as in a plan, not checked yet; `redo`
    are notes to subtasks that are to be done again."""

    text: str
    notes: tuple[Note, ...] = ()
    add: tuple[dict[str, Any], ...] = ()
    change: tuple[dict[str, Any], ...] = ()
    redo: tuple[Note, ...] = ()
    remove: tuple[str, ...] = ()
    final_instructions: str | None = None

    @property
    def changes_plan(self) -> bool:
        words = self.final_instructions is not None
        return bool(self.add or self.change or self.remove or words)


def reply_prompt(context: ReplyContext) -> str:
    """Ask the planner to answer messages."""
    room = context.room
    return "\n\n".join(
        [
            "You have planned the work on a goal, and models carry it out. The person who set the "
            "goal writes to you. " + MATERIAL,
            delimit("goal", context.goal),
            roster_section(context.roster),
            *budget_section(context.budget),
            *repository_section(context.repository, room // 4),
            *uploads_section(context.uploads, room // 8),
            _plan(context, room // 4),
            *_final_text(context.final_text, room // 8),
            *_earlier(context.earlier, room // 8),
            *nested("messages", "message", newest_within(room // 8, context.messages)),
            section("rules", _rules(context)),
            section("form", f"Answer with this JSON and nothing else:\n{FORM}"),
        ]
    )


def reply_repair_prompt(faults: Sequence[str]) -> str:
    """Ask again, after an answer that cannot be carried out; that answer is the turn before."""
    return "\n\n".join(
        [
            "This cannot be carried out, and nothing of it was:",
            *listed("faults", faults),
            "Answer the messages again, as JSON in the same form, and nothing else.",
        ]
    )


def _plan(context: ReplyContext, room: int) -> str:
    words = "\n\n".join(filter(None, (context.title, context.summary)))
    final = delimit("task", context.final_instructions, about="final_instructions")
    share = room // max(1, len(context.parts))
    parts = [delimit("subtask", part.text(share)) for part in context.parts]
    return section("plan", "\n".join([delimit("summary", words), *parts, final]))


def _final_text(text: str, room: int) -> list[str]:
    beginning = beginning_of(text, min(_MAX_FINAL_TEXT, room))
    return [delimit("result", beginning, about="the final text")] if text else []


def _earlier(turns: Sequence[Turn], room: int) -> list[str]:
    if not turns:
        return []
    kept = newest_within(room, [turn.text for turn in turns])
    # Before the first that is kept there may be a note.
    roles = ["message", *(turn.role for turn in turns)][-len(kept) :]
    sections = [delimit(role, text) for role, text in zip(roles, kept, strict=True)]
    return [section("earlier", "\n".join(sections))]


def _rules(context: ReplyContext) -> str:
    rules = f"- The plan has at most {context.max_subtasks} subtasks.\n{_RULES}"
    return f"{RULE_OF_READS}{rules}" if context.repository else rules


def read_reply(text: str) -> Reply:
    """Read the planner's answer. One that is no JSON is the reply itself."""
    raw = find_object(text)
    if raw is None:
        return Reply(text=text.strip()[:_MAX_REPLY])
    return Reply(
        text=_text(raw.get("reply"))[:_MAX_REPLY],
        notes=tuple(note for note in _notes(raw.get("notes"), "text") if note.text),
        add=tuple(each for each in _list(raw.get("add")) if isinstance(each, dict)),
        change=tuple(each for each in _list(raw.get("change")) if isinstance(each, dict)),
        redo=tuple(_notes(raw.get("redo"), "note")),
        remove=tuple(each for each in _list(raw.get("remove")) if isinstance(each, str)),
        final_instructions=_text(raw.get("final_instructions")) or None,
    )


def _notes(raw: Any, name: str) -> list[Note]:
    """Notes to subtasks; a key alone is one without words."""
    rows = [{"subtask": each} if isinstance(each, str) else each for each in _list(raw)]
    notes = [
        Note(_text(row.get("subtask")), _text(row.get(name))[:_MAX_NOTE])
        for row in rows
        if isinstance(row, dict)
    ]
    return [note for note in notes if note.key][:_MAX_NOTES]


def _list(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _text(raw: Any) -> str:
    return raw.strip() if isinstance(raw, str) else ""
