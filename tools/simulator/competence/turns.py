"""One call of somebody who knows a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator import projects
from simulator.competence import authors, calling, knowledge, planners
from simulator.competence.knowledge import Knowledge
from simulator.competence.shown import Shown
from simulator.competence.slips import Slip
from simulator.functions import FunctionCall, Task

REFUSED = "I can't help with that."


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
    if task is not None and task.offer is not None and projects.calls_functions(texts):
        calls = calling.next_calls(known, texts, task, slip)
        if slip is not None and slip.mistake == "bad_arguments":
            calls = tuple(replace(call, arguments=call.arguments[:-1]) for call in calls)
        return Turn("", calls)
    return Turn(_text(step, known, texts, slip))


def _text(step: projects.Kind, known: Knowledge, texts: Sequence[str], slip: Slip | None) -> str:
    shown = Shown(texts)
    match step:
        case "plan":
            return planners.plan(known, shown, slip)
        case "work":
            return authors.work(known, shown, projects.with_mark("{mark}", texts), slip)
        case "review":
            return planners.review(known, shown)
        case "reply":
            return planners.reply(known, shown)
        case "final":
            return planners.final(shown, known)
