"""One call of somebody who knows a task."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simulator import projects
from simulator.competence import authors, knowledge, planners
from simulator.competence.knowledge import Knowledge
from simulator.competence.shown import Shown
from simulator.competence.slips import Slip
from simulator.functions import FunctionCall, Task

REFUSED = "I can't help with that."
_MARK = re.compile(r"^@@SUMMARY (\S+)$|The mark is (\S+) now\.", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """What is said, or called."""

    text: str
    calls: tuple[FunctionCall, ...] = ()


def turn_of(name: str, texts: Sequence[str], slip: Slip | None, task: Task | None) -> Turn | None:
    """The turn in a conversation of a run; None in any other, and for a task that nobody knows."""
    known, step = knowledge.of_task(name), projects.kind_of(texts)
    if known is None or step is None:
        return None
    if slip is not None and slip.mistake == "refusal":
        return Turn(REFUSED)
    return Turn(_text(step, known, texts, slip))


def _text(step: projects.Kind, known: Knowledge, texts: Sequence[str], slip: Slip | None) -> str:
    shown = Shown(texts)
    match step:
        case "plan":
            return planners.plan(known, shown, slip)
        case "work":
            return authors.work(known, shown, _mark(texts[-1]), slip)
        case "review":
            return planners.review(known, shown)
        case "reply":
            return planners.reply(known, shown)
        case "final":
            return planners.final(shown, known)


def _mark(text: str) -> str:
    found = _MARK.search(text)
    return (found[1] or found[2]) if found else ""
