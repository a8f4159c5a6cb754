"""What readers see of an answer with files, while it comes and afterwards: no markup anywhere."""

import json
from typing import Any

import pytest

from ai.generations.types import Completion
from events.models import Event
from projects.models import Step
from projects.outputs import mark_of
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part
from projects.tests.world import World

LINES = [
    "# Tea",
    "@@FILE {mark} create tea.py",
    'print("tea")',
    "@@END {mark}",
    "It is made of leaves.",
    "@@ is no marker, and @@END is none.",
    "@@FILE {mark} create notes/tea.md",
    "Brew it.",
    "@@END {mark}",
    "@@SUMMARY {mark}",
    "Tea is described.",
    "@@END {mark}",
    "Enjoy 🍵.",
]
BODY = "# Tea\nIt is made of leaves.\n@@ is no marker, and @@END is none.\nEnjoy 🍵."
FILES = [(path, state) for path in ("tea.py", "notes/tea.md") for state in ("begun", "written")]
ANSWER = "\n".join(LINES)


def written(alice: Principal, **options: Any) -> Shape:
    """A run with one part, whose author gives the answer."""
    work = {"text": ANSWER, "delta_tokens": 1, **options}
    goal = alice.goal(part("a", writes=["tea.py"], model="gpt-6-luna"), work=work)
    return alice.finished(goal=goal, review=False)


def attempts(alice: Principal, run: Shape) -> list[Shape]:
    [a] = run["subtasks"]
    found: list[Shape] = alice.do("GET", f"/sessions/{run['id']}/subtasks/{a['id']}")["attempts"]
    return found


def log(run: Shape) -> list[tuple[str, Shape]]:
    rows = Event.objects.filter(stream=run["id"]).order_by("seq")
    return [(row.type, json.loads(row.data)) for row in rows]


def shown(run: Shape, attempt: int) -> tuple[str, list[tuple[str, str]]]:
    """The text of the deltas of an attempt, each of which begins where the one before ends, and its
    files with their states."""
    text, files = "", []
    for name, data in log(run):
        if name == "subtask.delta" and data["attempt"] == attempt:
            assert data["offset"] == len(text)
            text += data["text"]
        elif name == "subtask.file" and data["attempt"] == attempt:
            files.append((data["path"], data["state"]))
    return text, files


def marks(run: Shape) -> list[str]:
    return [step.pk.hex[-8:] for step in Step.objects.filter(run=run["id"], kind="work")]


def test_deltas_carry_what_readers_see_and_files_are_told(principal: NewPrincipal) -> None:
    alice = principal()
    run = written(alice, split=True)
    assert shown(run, 1) == (BODY, FILES)
    [attempt] = attempts(alice, run)
    assert attempt["body"] == BODY
    assert [each["path"] for each in attempt["files"]] == ["notes/tea.md", "tea.py"]


def test_no_text_of_the_run_has_markup(principal: NewPrincipal) -> None:
    alice = principal()
    run = written(alice)
    [mark] = marks(run)
    [text] = [each["id"] for each in run["deliverables"]]
    paths = ["", "/export?format=md", "/export?format=json", "/deliverables", "/messages"]
    told = [json.dumps(log(run)), json.dumps(attempts(alice, run))]
    told += [alice.send("GET", f"/sessions/{run['id']}{path}").text for path in paths]
    told.append(alice.send("GET", f"/deliverables/{text}/download").text)
    assert BODY in told[-1]
    assert [each for each in told if mark in each] == []


def test_an_answer_that_is_cut_in_files_and_markers_is_shown_as_a_whole_one(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = written(alice, cut=5)
    turns = Step.objects.filter(run=run["id"], kind="work")
    assert turns.filter(goes_on=True).count() >= 4
    assert shown(run, 1) == (BODY, FILES)
    assert [attempt["body"] for attempt in attempts(alice, run)] == [BODY]


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_an_attempt_that_goes_on_with_a_cut_answer_shows_all_of_it() -> None:
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    world.end(0, "good")
    step = world.begin(0)
    assert step is not None
    assert step.attempt is not None
    cut = Completion(
        content=f"# Tea\n@@FILE {mark_of(step.pk)} create tea.py\npri", finish_reason="length"
    )
    world.conclude(step, "settled", cut)
    world.end(0, "breaks off")
    assert shown({"id": step.run_id}, step.attempt.number) == ("", [])  # no worker has told it
    again = world.begin(0)
    assert again is not None
    assert again.attempt is not None
    assert shown({"id": step.run_id}, again.attempt.number) == ("# Tea", FILES[:1])
    world.check()
