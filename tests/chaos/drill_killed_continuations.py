"""Workers are killed while an answer is continued, while a try waits for its turn, and as a model
of another vendor takes over: the answer is joined exactly, and each call is billed once.

Workers make all calls of a run; what a killed web process leaves is in `drill_runs_web_killed`.
"""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import ceil
from typing import Any

import pytest

from ai.catalog.selectors import get_catalog
from billing.models import Charge
from common.money import NUSD_PER_USD
from projects.models import Step
from projects.selectors.answers import text_before
from projects.selectors.subtasks import text_in_log
from projects.tests.world import check_decided, check_log
from projects.types import MAX_CONTINUATIONS, MAX_TRIES, PAUSES, SHOWN
from simulator.process import RunningSimulator
from simulator.tokens import tokens
from tests.chaos.killing import kill_a_worker_when
from tests.chaos.projects import KINDS, Project
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed", "providers")

LONG = " ".join(f"Line {number} of the sea." for number in range(20))
AUTHOR, REVIEWER = "claude-haiku-5-5", "gemini-3.8-flash"
A = {"key": "a", "title": "Part a", "instructions": LONG, "model": AUTHOR}
B = {"key": "b", "title": "Part b", "instructions": "Go on.", "model": AUTHOR, "depends_on": ["a"]}
TEXTS = {
    "plan": json.dumps({"subtasks": [A]}),
    "work": LONG,
    "review": json.dumps({"verdict": "accept", "points": [], "issues": [LONG]}),
    "reply": json.dumps({"reply": LONG}),
    "final": LONG,
}
# With the pauses of production before a step is tried again.
UNHURRIED = "config.settings.test"
# Into how many pieces the output limit cuts an answer that is just continued to its end.
PIECES = 1 + MAX_CONTINUATIONS


class CutProject(Project):
    """A run within a budget, whose only answer of one kind is cut into so many pieces. Each of them
    takes 0.8 seconds."""

    def __init__(self, kind: str, *, pieces: int = PIECES) -> None:
        self.kind = kind
        self.piece = ceil(len(tokens(TEXTS[kind])) / pieces)
        # The result of a single part is the final text.
        plan = {"text": json.dumps({"subtasks": [A, B] if kind == "final" else [A]})}
        cut = {"text": TEXTS[kind], "cut": self.piece, "delay_ms": 800 // self.piece}
        by_step: dict[str, dict[str, Any]] = {"plan": plan, kind: cut}
        super().__init__(**by_step)
        self.ask_for(kind)

    def options(self) -> dict[str, Any]:
        return {"budget": 5 * NUSD_PER_USD, "reviewer_model": REVIEWER}

    @property
    def latest(self) -> Step:
        """The latest step of the kind."""
        return self.steps(self.kind).latest("id")

    def pieces(self) -> int:
        """How many pieces of the answer are there."""
        return self.outcomes(self.kind).count("done")

    def is_writing(self, simulator: RunningSimulator) -> bool:
        """Has some, but not all, of a piece come, and been shown where readers see it?"""
        calls = self.calls(simulator, self.kind)
        has_begun = bool(calls) and not calls[-1]["finished"] and calls[-1]["tokens_emitted"] > 1
        return (
            self.running(self.kind)
            and has_begun
            and (self.kind not in SHOWN or bool(text_in_log(self.latest)))
        )

    def waits_for_try(self, number: int) -> bool:
        """Does the try of that number wait for its turn?"""
        tries = self.steps(self.kind).filter(number=number).values("pk")
        return Job.objects.filter(pk__in=tries, status=Job.Status.SCHEDULED).exists()

    def let_its_model_fail(self, simulator: RunningSimulator) -> None:
        """From now on all answers of the model that writes break off after two words."""
        name = get_catalog().models[self.latest.model].upstream_model
        marker = f"{self.marker}-{self.kind}"
        simulator.begin_outage(name, fail="after", after_tokens=2, marker=marker)

    def answer(self) -> str:
        """The answer, joined of its pieces."""
        last = self.steps(self.kind).get(outcome="done", goes_on=False)
        return text_before(last) + last.content

    def billed(self) -> list[bool]:
        """Was it billed, by the steps of the kind whose workers died?"""
        lost = self.steps(self.kind).filter(outcome="lost").values("pk")
        return [charge.status == "expired" for charge in Charge.objects.filter(pk__in=lost)]

    def end(self, simulator: RunningSimulator) -> None:
        """Let a worker complete the run."""
        with running_worker(simulator):
            wait_until(self.has_ended, seconds=60)
        assert self.run.status == "completed"
        check_log(self.run)
        self.check_money(simulator)


Kill = Callable[[CutProject, Callable[[], object]], None]


@pytest.fixture
def kill(simulator: RunningSimulator) -> Iterator[Kill]:
    """Kills a worker at a moment of a run; afterwards somebody is at work, or it says why not. All
    models work again at the end of the test."""

    def kill(project: CutProject, moment: Callable[[], object]) -> None:
        kill_a_worker_when(simulator, moment, DJANGO_SETTINGS_MODULE=UNHURRIED)
        check_decided(project.reload())

    yield kill
    simulator.end_outages()


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_joined_whose_workers_die_while_it_is_continued(
    simulator: RunningSimulator, kind: str, kill: Kill
) -> None:
    """What is lost does not count as a continuation: there are just enough of them."""
    project = CutProject(kind)
    for pieces in (1, MAX_CONTINUATIONS // 2, MAX_CONTINUATIONS):
        kill(project, lambda: project.pieces() == pieces and project.is_writing(simulator))  # noqa: B023
    project.end(simulator)
    assert (project.answer(), project.pieces()) == (TEXTS[kind], PIECES)
    assert project.outcomes(kind).count("lost") == 3
    if kind in SHOWN:
        assert project.billed() == [True] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_joined_whose_worker_dies_between_two_pieces(
    simulator: RunningSimulator, kind: str, kill: Kill
) -> None:
    project = CutProject(kind)
    for pieces in (1, MAX_CONTINUATIONS):
        kill(project, lambda: project.pieces() == pieces)  # noqa: B023
    project.end(simulator)
    assert (project.answer(), project.pieces()) == (TEXTS[kind], PIECES)


def test_an_answer_is_not_continued_more_often_because_workers_die(
    simulator: RunningSimulator, kill: Kill
) -> None:
    project = CutProject("final", pieces=2 * PIECES)
    for pieces in (2, MAX_CONTINUATIONS):
        kill(project, lambda: project.pieces() == pieces and project.is_writing(simulator))  # noqa: B023
    project.end(simulator)
    written = "".join(tokens(LONG)[: PIECES * project.piece])
    assert project.answer() == written
    final = project.run.deliverables.get(subtask=None)
    assert (final.content, final.is_cut) == (written, True)


@pytest.mark.parametrize("kind", KINDS)
def test_tries_at_a_continuation_wait_and_are_taken_over_whoever_dies(
    simulator: RunningSimulator, kind: str, kill: Kill
) -> None:
    project = CutProject(kind)

    def fails_and_waits() -> bool:
        if project.pieces() == 2:
            project.let_its_model_fail(simulator)
        return project.waits_for_try(2)

    def is_taken_over() -> bool:
        return project.latest.number > MAX_TRIES and project.is_writing(simulator)

    kill(project, fails_and_waits)
    kill(project, lambda: project.waits_for_try(MAX_TRIES))
    kill(project, is_taken_over)
    project.end(simulator)

    assert project.answer() == TEXTS[kind]
    steps = list(project.steps(kind))
    failed = [step for step in steps if step.outcome == "failed"]
    assert [step.number for step in failed] == [*range(1, MAX_TRIES + 1)]
    for (before, step), pause in zip(pairwise(failed), PAUSES, strict=True):
        assert (_admitted(step) - before.ended_at).total_seconds() >= pause
    [first, *_] = [step for step in steps if step.number > MAX_TRIES]
    assert _vendor_of(first) != _vendor_of(failed[0])


def _vendor_of(step: Step) -> str:
    return get_catalog().models[step.model].owned_by


def _admitted(step: Step) -> Any:
    return Charge.objects.get(pk=step.pk).admitted_at
