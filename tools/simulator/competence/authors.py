"""The author of a part: a text, files between marks, and a summary."""

import re
from collections.abc import Sequence

from simulator.competence.files import Written, files_of
from simulator.competence.knowledge import Knowledge, Part
from simulator.competence.planners import part_of
from simulator.competence.shown import Shown, filled
from simulator.competence.slips import Slip

_ODD_PLACES = ("/{}", "../{}", "result/{}")


def parts_of(knowledge: Knowledge, shown: Shown) -> list[Part]:
    """The part of the task, with what messages and notes ask for in it; all parts where the task is
    the goal itself."""
    part = part_of(knowledge, shown)
    if part is None:
        return knowledge.planned
    told = "\n".join(shown.section(tag) for tag in ("task", "notes", "messages", "review"))
    asked = [each for each in knowledge.replies if re.search(each.asks, told)]
    return [part, *(knowledge.part(each.adds) for each in asked if each.part == part.key)]


def text_of(parts: Sequence[Part], knowledge: Knowledge, facts: dict[str, str]) -> str:
    return "\n\n".join(filled(part.text, knowledge, facts).strip() for part in parts)


def work(knowledge: Knowledge, shown: Shown, mark: str, slip: Slip | None) -> str:
    """The whole answer."""
    facts, parts = shown.facts(knowledge), parts_of(knowledge, shown)
    files = [
        file for part in parts for file in files_of(part, knowledge, shown, shown.files, facts)
    ]
    if slip is not None:
        files = spoiled(files, slip)
    lines = [text_of(parts, knowledge, facts)]
    for file in files:
        lines += block(file, mark)
    title = parts[0].title if parts else knowledge.title
    lines += [f"@@SUMMARY {mark}", f"{title}: done.", f"@@END {mark}"]
    return "\n".join(lines)


def block(file: Written, mark: str) -> list[str]:
    """The lines of a file."""
    if not file.edits:
        word = "create" if file.is_new else "update"
        return [f"@@FILE {mark} {word} {file.path}", file.content.rstrip("\n"), f"@@END {mark}"]
    lines = [f"@@FILE {mark} edit {file.path}"]
    for old, new in file.edits:
        lines += [f"@@OLD {mark}", old, f"@@NEW {mark}", new]
    return [*lines, f"@@END {mark}"]


def spoiled(files: list[Written], slip: Slip) -> list[Written]:
    """The files with one mistake."""
    if not files:
        return files
    at = slip.choice % len(files)
    chosen, others = files[at], [*files[:at], *files[at + 1 :]]
    match slip.mistake:
        case "missing_file":
            return others
        case "wrong_path":
            path = _ODD_PLACES[slip.choice % len(_ODD_PLACES)].format(chosen.path)
            return [*others, Written(path, chosen.content, chosen.edits, is_new=True)]
        case "fence" if not chosen.edits:
            word = chosen.path.rpartition(".")[2]
            fenced = f"```{word}\n{chosen.content}\n```"
            return [*others, Written(chosen.path, fenced, is_new=chosen.is_new)]
        case "stale_edit" if chosen.edits:
            edits = tuple((_as_remembered(old), new) for old, new in chosen.edits)
            return [*others, Written(chosen.path, edits=edits)]
        case _:
            return files


def _as_remembered(passage: str) -> str:
    """A passage as it never was."""
    return re.sub(r"\w+", "something", passage, count=1)
