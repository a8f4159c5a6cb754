"""Plans of runs: what the planner answers, or the user writes, read and checked.

Reading is tolerant of form and strict in substance: a plan that is not sound is refused with all
of its faults, in sentences that its author, a model or a person, can act on.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from common.titles import one_line
from projects.paths import MAX_PATH
from projects.plan_files import faults_of_files
from projects.types import (
    MAX_ACCEPTANCE,
    MAX_ACCEPTANCE_POINT,
    MAX_INSTRUCTIONS,
    MAX_KEY,
    MAX_OUTPUT_TOKENS,
    MAX_READS,
    MAX_SUMMARY,
    MAX_TITLE,
    MAX_WRITES,
)

# Faults that are named: a plan with more of them is not mended one by one.
_MAX_FAULTS = 12
_KEY = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{MAX_KEY - 1}}}")


class PlannedSubtask(Struct, frozen=True, kw_only=True):
    """A part of the work. `acceptance` are the points that a review checks; `model` is the
    suggested model, if any; `reads` are the paths of files of the repository that its author is
    shown, `writes` those of the files that it writes. `max_output_tokens` bounds each answer of
    its author."""

    key: str
    title: str
    instructions: str
    acceptance: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    model: str | None = None
    output: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    max_output_tokens: int | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """A sound plan. The subtasks are in topological order; `final_instructions` are for the text
    that makes one result of theirs. `notes` are sentences about what was made otherwise than its
    author has said."""

    title: str
    summary: str
    subtasks: tuple[PlannedSubtask, ...]
    final_instructions: str = ""
    notes: tuple[str, ...] = ()


class UnsoundPlan(Exception):
    """`faults` are sentences."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(*faults)
        self.faults = list(faults)[:_MAX_FAULTS]


class Known(Struct, frozen=True, kw_only=True):
    """What a plan may name. `roster` are the ids of models; where `may_choose`, one that is not
    among them is left to us. `files` are the paths that there are before the work begins, None
    where it does not matter what is read. The files of the subtasks `settled` were accepted
    before."""

    roster: Collection[str]
    max_subtasks: int
    may_choose: bool = False
    files: Collection[str] | None = None
    settled: Collection[str] = ()


def read_plan(raw: Any, known: Known) -> Plan:
    """Read the JSON of a plan.

    Raises UnsoundPlan.
    """
    reader = _Reader(known)
    plan = reader.plan(raw)
    faults = reader.faults or [
        *_faults_of_keys(plan.subtasks),
        *_faults_of_files(plan.subtasks, known),
    ]
    if faults:
        raise UnsoundPlan(faults)
    return replace(_ordered(plan, known), notes=tuple(reader.notes))


def _ordered(plan: Plan, known: Known) -> Plan:
    """The plan in topological order, with a dependency where two subtasks would write one file, and
    where one reads a file that another creates. Raises UnsoundPlan where dependencies form a
    cycle."""
    graph = {each.key: set(each.depends_on) for each in plan.subtasks}
    for reader, writer in _created_for(plan.subtasks, known):
        graph[reader].add(writer)
    order = _sorted(graph)
    for earlier, later in _overlaps(plan.subtasks, order):
        graph[later].add(earlier)
    by_key = {each.key: each for each in plan.subtasks}
    ordered = [
        replace(by_key[key], depends_on=tuple(each for each in order if each in graph[key]))
        for key in order
    ]
    return replace(plan, subtasks=tuple(ordered))


def whole_goal(title: str) -> Plan:
    """The plan of a run whose planner has made none: one subtask, which is the goal."""
    only = PlannedSubtask(key="goal", title=title, instructions="Do all that the goal says.")
    return Plan(title=title, summary="", subtasks=(only,))


def _faults_of_keys(subtasks: Sequence[PlannedSubtask]) -> Iterator[str]:
    """Keys that repeat, and dependencies that are unknown."""
    keys = [each.key for each in subtasks]
    for key in sorted({each for each in keys if keys.count(each) > 1}):
        yield f'Two subtasks have the key "{key}".'
    for subtask in subtasks:
        for key in subtask.depends_on:
            if key == subtask.key:
                yield f'Subtask "{subtask.key}" depends on itself.'
            elif key not in keys:
                yield f'Subtask "{subtask.key}" depends on "{_short(key)}", which does not exist.'


def _sorted(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys in topological order; keys that do not depend on each other stay as they are.
    Raises UnsoundPlan for a cycle."""
    places = {key: place for place, key in enumerate(graph)}
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " -> ".join(f'"{key}"' for key in error.args[1])
        raise UnsoundPlan([f"The dependencies form a circle: {circle}."]) from error
    order: list[str] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=places.__getitem__)
        order.append(ready.pop(0))
        sorter.done(order[-1])
    return order


def _faults_of_files(subtasks: Sequence[PlannedSubtask], known: Known) -> Iterator[str]:
    for subtask in subtasks:
        if subtask.key in known.settled:
            continue
        others = [each for each in subtasks if each.key != subtask.key]
        yield from faults_of_files(
            subtask.key,
            reads=subtask.reads,
            writes=subtask.writes,
            others={path for each in others for path in each.writes},
            files=known.files,
        )


def _created_for(subtasks: Sequence[PlannedSubtask], known: Known) -> Iterator[tuple[str, str]]:
    """Pairs of subtasks of which the first reads a file that is not there before the second has
    written it."""
    for reader in subtasks:
        if known.files is None or reader.key in known.settled:
            continue
        wanted = set(reader.reads).difference(known.files)
        for writer in subtasks:
            if writer.key != reader.key and wanted.intersection(writer.writes):
                yield reader.key, writer.key


def _overlaps(
    subtasks: Sequence[PlannedSubtask], order: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Pairs of subtasks that write one file: the later depends on the earlier."""
    writers: dict[str, list[str]] = {}
    for subtask in sorted(subtasks, key=lambda each: order.index(each.key)):
        for path in subtask.writes:
            writers.setdefault(path, []).append(subtask.key)
    for keys in writers.values():
        yield from pairwise(keys)


class _Reader:
    """Reads the parts of a plan, and notes their faults."""

    def __init__(self, known: Known) -> None:
        self.faults: list[str] = []
        self.notes: list[str] = []
        self._known = known

    def plan(self, raw: Any) -> Plan:
        if not isinstance(raw, dict):
            self.faults.append("The answer has no JSON object.")
            return Plan(title="", summary="", subtasks=())
        final = raw.get("final")
        return Plan(
            title=self._line(raw, "title", "The plan", required=False),
            summary=self._text(raw, "summary", "The plan", MAX_SUMMARY, required=False),
            subtasks=self._subtasks(raw.get("subtasks")),
            final_instructions=self._text(
                final, "instructions", "The final text", MAX_INSTRUCTIONS, required=False
            )
            if isinstance(final, dict)
            else "",
        )

    def _subtasks(self, raw: Any) -> tuple[PlannedSubtask, ...]:
        if not isinstance(raw, list) or not raw:
            self.faults.append('"subtasks" is not a list of subtasks.')
            return ()
        most = self._known.max_subtasks
        if len(raw) > most:
            self.faults.append(f"The plan has {len(raw)} subtasks, and may have {most}.")
            return ()
        return tuple(self._subtask(each, f"Subtask {n}") for n, each in enumerate(raw, start=1))

    def _subtask(self, raw: Any, where: str) -> PlannedSubtask:
        if not isinstance(raw, dict):
            self.faults.append(f"{where} is not an object.")
            return PlannedSubtask(key="", title="", instructions="")
        key = self._key(raw, where)
        where = f'Subtask "{key}"' if key else where
        return PlannedSubtask(
            key=key,
            title=self._line(raw, "title", where),
            instructions=self._text(raw, "instructions", where, MAX_INSTRUCTIONS),
            acceptance=self._texts(raw, "acceptance", where, MAX_ACCEPTANCE, MAX_ACCEPTANCE_POINT),
            depends_on=self._texts(raw, "depends_on", where, self._known.max_subtasks, MAX_KEY),
            model=self._model(raw, where),
            output=self._line(raw, "output", where, required=False),
            reads=self._texts(raw, "reads", where, MAX_READS, MAX_PATH),
            writes=self._texts(raw, "writes", where, MAX_WRITES, MAX_TITLE),
            max_output_tokens=self._limit(raw, where),
        )

    def _key(self, raw: dict[str, Any], where: str) -> str:
        key = raw.get("key")
        if isinstance(key, str) and _KEY.fullmatch(key):
            return key
        self.faults.append(
            f'The "key" of {where} is not 1 to {MAX_KEY} lower-case letters, digits, "-" and "_".'
        )
        return ""

    def _model(self, raw: dict[str, Any], where: str) -> str | None:
        model = raw.get("model")
        if model in (None, ""):
            return None
        if isinstance(model, str) and model in self._known.roster:
            return model
        fault = f'{where} suggests the model "{_short(model)}", which may not be used.'
        if self._known.may_choose:
            self.notes.append(f"{fault} Another was chosen.")
        else:
            self.faults.append(fault)
        return None

    def _limit(self, raw: dict[str, Any], where: str) -> int | None:
        limit = raw.get("max_output_tokens")
        if limit is None or (type(limit) is int and 0 < limit <= MAX_OUTPUT_TOKENS):
            return limit
        self.faults.append(
            f'The "max_output_tokens" of {where} is not a number from 1 to {MAX_OUTPUT_TOKENS}.'
        )
        return None

    def _line(self, raw: dict[str, Any], name: str, where: str, *, required: bool = True) -> str:
        """A short text on one line. A long one is cut: it is a name."""
        line = one_line(self._text(raw, name, where, None, required=required))
        return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"

    def _text(
        self,
        raw: dict[str, Any],
        name: str,
        where: str,
        limit: int | None,
        *,
        required: bool = True,
    ) -> str:
        text = raw.get(name)
        if text is None and not required:
            return ""
        if not isinstance(text, str) or (required and not text.strip()):
            self.faults.append(f'{where} has no "{name}", which is a text.')
            return ""
        if limit is not None and len(text) > limit:
            self.faults.append(
                f'The "{name}" of {where} has {len(text)} characters, and may have {limit}.'
            )
            return ""
        return text.strip()

    def _texts(
        self, raw: dict[str, Any], name: str, where: str, most: int, limit: int
    ) -> tuple[str, ...]:
        """A list of texts, without repetitions; absent, it is empty."""
        texts = raw.get(name)
        if texts is None:
            return ()
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            self.faults.append(f'The "{name}" of {where} is not a list of texts.')
            return ()
        if len(texts) > most or any(len(each) > limit for each in texts):
            self.faults.append(
                f'The "{name}" of {where} has more than {most} entries, or one with more than '
                f"{limit} characters."
            )
            return ()
        kept = (each.strip() for each in texts)
        return tuple(dict.fromkeys(filter(None, kept)))


def _short(value: object) -> str:
    text = one_line(str(value)[:100])
    return text if len(text) <= MAX_KEY else f"{text[:MAX_KEY]}…"
