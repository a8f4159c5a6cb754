"""What can be carried out of a plan that has faults."""

from typing import Any

from msgspec.structs import replace

from projects.paths import fault_of
from projects.plans import Known, Plan, UnsoundPlan, read_plan
from projects.types import MAX_READS, MAX_SUMMARY

# Subtasks that are looked at: of more than that, nothing can be said to be the beginning.
_MAX_READ = 100

_Raw = dict[str, Any]


def sound_part(raw: Any, known: Known) -> Plan | None:
    """A plan of the subtasks that are sound, the first ones where there are too many, each after
    those that it depends on. What they read and write that cannot be is left out. None where that
    would not be more than half of what the plan may have: the goal is served better by whoever
    works on all of it. `notes` name the others, and so does the summary, which all who are shown
    the plan see."""
    rows = raw.get("subtasks") if isinstance(raw, dict) else None
    if not isinstance(rows, list):
        return None
    rows = [each for each in rows[:_MAX_READ] if isinstance(each, dict)]
    kept = _kept([each for each in map(_mended, rows) if _is_sound(each, known)], known)
    if 2 * len(kept) <= min(len(rows), known.max_subtasks):
        return None
    plan = _read(raw, kept, known)
    left_out = _note([each for each in rows if each.get("key") not in kept])
    if plan is None or not left_out:
        return plan
    summary = "\n\n".join(filter(None, (plan.summary[: MAX_SUMMARY - len(left_out) - 2], left_out)))
    return replace(plan, summary=summary, notes=(*plan.notes, left_out))


def _kept(sound: list[_Raw], known: Known) -> dict[str, _Raw]:
    """By key, in an order in which they can be carried out."""
    kept: dict[str, _Raw] = {}
    while len(kept) < known.max_subtasks:
        ready = (
            each
            for each in sound
            if each["key"] not in kept and kept.keys() >= set(each["depends_on"])
        )
        row = next(ready, None)
        if row is None:
            break
        kept[row["key"]] = row
    return kept


def _mended(row: _Raw) -> _Raw:
    """A subtask without the paths that nobody can write."""
    writes = [path for path in _texts(row, "writes") if not fault_of(path)]
    reads = _texts(row, "reads")[:MAX_READS]
    return row | {"depends_on": _texts(row, "depends_on"), "reads": reads, "writes": writes}


def _texts(row: _Raw, name: str) -> list[str]:
    texts = row.get(name)
    return [each for each in texts if isinstance(each, str)] if isinstance(texts, list) else []


def _is_sound(row: _Raw, known: Known) -> bool:
    """Whether a subtask is sound, whatever it depends on and reads."""
    try:
        read_plan({"subtasks": [row | {"depends_on": [], "reads": []}]}, known)
    except UnsoundPlan:
        return False
    return True


def _read(raw: _Raw, kept: dict[str, _Raw], known: Known) -> Plan | None:
    rows = [*kept.values()]
    if known.files is not None:
        there = {*known.files, *(path for row in rows for path in row["writes"])}
        rows = [row | {"reads": [path for path in row["reads"] if path in there]} for row in rows]
    for words in (raw, {}):
        try:
            return read_plan({**words, "subtasks": rows}, known)
        except UnsoundPlan:
            continue
    return None


def _note(rows: list[_Raw]) -> str:
    titles = [str(each.get("title") or each.get("key") or "a part")[:60] for each in rows]
    if not titles:
        return ""
    names = ", ".join(f'"{title}"' for title in titles[:8])
    more = f" and {len(titles) - 8} more" if len(titles) > 8 else ""
    return f"The plan could not take all parts that were wanted: {names}{more} are left out."
