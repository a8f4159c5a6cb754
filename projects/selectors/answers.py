"""Answers that take several steps: one that the output limit has cut, or that asks for tools, is
continued by another step."""

from projects.errors import NothingHandedIn
from projects.models import Attempt, Run, Step
from projects.outputs import mark_of
from projects.shown_text import Shown, ShownText
from projects.types import SHOWN, Outcome, StepKind


def unfinished(run: Run, kind: StepKind, attempt: Attempt | None = None) -> Step | None:
    """The step whose answer the next step of this kind, and of this attempt, continues; None where
    an answer begins, also after an author that has used up its calls: whoever went on could make
    none. An attempt that goes on with another one's answer says so in its first step."""
    first: Step | None = None
    for step in reversed(run.rows.steps.values()):
        if step.kind == kind and _belongs(step, attempt):
            if step.outcome == Outcome.DONE:
                return step if step.goes_on else None
            if (step.error or {}).get("code") == NothingHandedIn.code:
                return None
            first = step
    continued = first.continues_id if first is not None else None
    return run.rows.steps[continued] if continued is not None else None


def turns_before(step: Step) -> list[Step]:
    """The steps whose answer a step continues, the first one first."""
    turns: list[Step] = []
    continued = step.continues_id
    while continued is not None:
        turns.append(step.run.rows.steps[continued])
        continued = turns[-1].continues_id
    return turns[::-1]


def first_turn(step: Step) -> Step:
    """The step that has begun the answer: its mark is that of the whole answer."""
    return next(iter(turns_before(step)), step)


def shown_from(step: Step) -> Step:
    """The first step whose events hold the text that readers see of an answer. A new attempt, and a
    final text whose writing was interrupted, show their text again from its beginning."""
    steps = [each for each in step.run.rows.steps.values() if each.kind == step.kind]
    if step.attempt is not None:
        return next(each for each in steps if each.attempt_id == step.attempt_id)
    earlier = [each for each in steps if each.pk < step.pk]
    while earlier and earlier[-1].pk == step.continues_id:
        step = earlier.pop()
    return step


def text_before(step: Step) -> str:
    """What the steps have written that this one continues."""
    turns = turns_before(step)
    texts = dict(
        Step.objects.filter(pk__in=[each.pk for each in turns]).values_list("pk", "content")
    )
    return "".join(texts[each.pk] for each in turns)


def shown_before(step: Step) -> tuple[ShownText, list[Shown]]:
    """The reader of an answer, which has read what a step continues, and what that shows."""
    reader = ShownText(mark_of(first_turn(step).pk))
    return reader, reader.read(text_before(step)) if step.kind in SHOWN else []


def _belongs(step: Step, attempt: Attempt | None) -> bool:
    return step.subtask_id is None if attempt is None else step.attempt_id == attempt.pk
