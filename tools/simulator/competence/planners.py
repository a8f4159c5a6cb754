"""The steps that do not work on a part: plan, review, reply, final text."""

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import cycle
from typing import Any

from simulator.competence.knowledge import Knowledge, Part, Reply, SymbolRead
from simulator.competence.shown import Section, Shown, filled, names_in
from simulator.competence.slips import Slip
from simulator.projects import parts_of_plan

_ROSTER = re.compile(r"^(\S+): by ([^,\n]+), price", re.MULTILINE)
_FENCE = re.compile(r"\A\s*```")
# What a reviewer knows beside the attempt and its files.
_KNOWN_TO_REVIEWER = ("goal", "task", "done_when", "messages", "notes", "inputs")
_BEGUN = "running"
_OPEN = ("queued", "waiting")


def plan(knowledge: Knowledge, shown: Shown, slip: Slip | None) -> str:
    """A plan in the form that the prompt asks for."""
    facts, models = shown.facts(knowledge), _models(shown)
    subtasks = [_subtask(part, knowledge, shown, facts) for part in knowledge.planned]
    for subtask in subtasks:
        subtask["model"] = next(models)
    if slip is not None and slip.mistake == "bad_plan":
        _spoil(subtasks, slip)
    return json.dumps(
        {
            "title": knowledge.title,
            "summary": knowledge.summary,
            "subtasks": subtasks,
            "final": {"instructions": knowledge.final},
        },
        indent=2,
    )


def _subtask(
    part: Part, knowledge: Knowledge, shown: Shown, facts: dict[str, str]
) -> dict[str, Any]:
    reads = [_read(each, shown) for each in part.reads]
    return {
        "key": part.key,
        "title": part.title,
        "instructions": filled(part.instructions, knowledge, facts),
        "acceptance": [filled(point, knowledge, facts) for point in part.acceptance],
        "depends_on": [*part.depends_on],
        "output": "what was asked for",
        "reads": [path for path in reads if shown.has_path(path)],
        "writes": [*part.writes],
    }


def _read(read: str | SymbolRead, shown: Shown) -> str:
    """The path; one of a symbol is known where a line has both the file and the symbol, or a file
    with it was read."""
    if isinstance(read, str):
        return read
    name = read.path.rpartition("/")[2]
    lines = shown.text.split("\n")
    is_told = any(name in line and read.symbol in line for line in lines)
    is_read = any(read.symbol in content for content in shown.files.values())
    return read.path if is_told or is_read else read.otherwise


def _models(shown: Shown) -> "cycle[str | None]":
    """Models of the list, one vendor after the other."""
    by_vendor: dict[str, str] = {}
    for model, vendor in _ROSTER.findall(shown.section("models")):
        by_vendor.setdefault(vendor, model)
    return cycle([*by_vendor.values()] or [None])


def _spoil(subtasks: list[dict[str, Any]], slip: Slip) -> None:
    """A model that nobody knows, too many parts, or a part that depends on nothing known."""
    match slip.choice % 3:
        case 0:
            subtasks[0]["model"] = "gpt-99-imagined"
        case 1:
            parts = [{**subtasks[0], "key": f"more-{number}"} for number in range(20)]
            subtasks += parts
        case _:
            subtasks[-1]["depends_on"] = ["what-nobody-does"]


def review(knowledge: Knowledge, shown: Shown) -> str:
    """A review that asks for what the attempt lacks of the facts that the reviewer was shown, and
    for what it is told could not be used."""
    issues = [*_issues(knowledge, shown)]
    points = [line.removeprefix("- ") for line in shown.section("done_when").split("\n") if line]
    review = {
        "points": [{"point": point, "passed": True, "issue": ""} for point in points],
        "issues": issues[:10],
        "verdict": "revise" if issues else "accept",
    }
    return json.dumps(review, indent=2)


def _issues(knowledge: Knowledge, shown: Shown) -> Iterator[str]:
    faults = shown.section("faults")
    yield from (line.removeprefix("- ") for line in faults.split("\n") if line)
    part = part_of(knowledge, shown)
    if part is None:
        return
    known = Shown([shown.with_sections(_KNOWN_TO_REVIEWER)]).facts(knowledge)
    attempt = Shown([shown.without_sections(_KNOWN_TO_REVIEWER)])
    texts = [part.text, *(file.content or file.new for file in part.files)]
    for name in dict.fromkeys(name for text in texts for name in names_in(text, knowledge)):
        if name in known and known[name] not in attempt.text:
            yield f"{name} is missing or wrong. The prompt says: {_said(knowledge, shown, name)}"
    for path, content in attempt.files.items():
        if _FENCE.match(content):
            yield f"{path} begins with a code fence, which is no part of it."


def _said(knowledge: Knowledge, shown: Shown, name: str) -> str:
    found = re.search(knowledge.facts[name].pattern, shown.text)
    return found[0] if found else ""


def reply(knowledge: Knowledge, shown: Shown) -> str:
    """An answer to messages, with what they ask for."""
    facts, asked = shown.facts(knowledge), shown.section("messages")
    answer: dict[str, Any] = {"reply": "Understood."}
    for each in knowledge.replies:
        if re.search(each.asks, asked):
            answer = {"reply": each.says, **_changes(each, knowledge, shown, facts)}
    return json.dumps(answer, indent=2)


def _changes(
    reply: Reply, knowledge: Knowledge, shown: Shown, facts: dict[str, str]
) -> dict[str, Any]:
    """A note where the part is being worked on, other instructions where it has not begun, and a
    part of its own otherwise. Instructions are an edit of what was shown of them."""
    added = knowledge.part(reply.adds)
    words = filled(added.instructions, knowledge, facts)
    status = _shown_part(shown, reply.part).get("status", "")
    if status == _BEGUN:
        return {"notes": [{"subtask": reply.part, "text": words}]}
    if status in _OPEN:
        if "add_to_instructions" in shown.first:
            return {"change": [{"key": reply.part, "add_to_instructions": words}]}
        before = _instructions(knowledge.part(reply.part), knowledge, shown, facts)
        return {"change": [{"key": reply.part, "instructions": f"{before} {words}".strip()}]}
    subtask = _subtask(added, knowledge, shown, facts)
    return {"add": [{**subtask, "depends_on": [], "model": None}]}


def _instructions(part: Part, knowledge: Knowledge, shown: Shown, facts: dict[str, str]) -> str:
    """What the planner sees of the instructions of a part; nothing where it sees nothing."""
    words = filled(part.instructions, knowledge, facts)
    return words if words in _shown_part(shown, part.key).get("instructions", "") else ""


def _shown_part(shown: Shown, key: str) -> dict[str, Any]:
    """A part of the plan as the planner is shown it; empty where it is not."""
    return parts_of_plan(shown.section("plan")).get(key, {})


def final(shown: Shown, knowledge: Knowledge) -> str:
    """The results in the order in which they are shown."""
    results = [each for each in shown.sections if each.tag == "result"]
    parts = [f"## {_title(each)}\n\n{each.text}" for each in results]
    return "\n\n".join([f"# {knowledge.title}", *parts])


def _title(section: Section) -> str:
    return unescape(section.attributes.get("title", "A part"))


def part_of(knowledge: Knowledge, shown: Shown) -> Part | None:
    """The part that a step is about, by the title of its task; None for any other task."""
    title = shown.section("task").split("\n", 1)[0].strip()
    return next((part for part in knowledge.parts if part.title == title), None)
