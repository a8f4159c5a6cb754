"""Authors that work on a repository by calling functions: what they see, write and hand in."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ai.catalog.selectors import get_catalog
from billing.models import Charge
from events.models import Event
from integrations.githosts.tests.hosted import git
from projects.author_tools.calls import MAX_CALLS
from projects.models import Run, Step
from projects.selectors.prompts import ask
from projects.tests.developer import Developer
from projects.tests.principal import Shape, part

READ_AND_EDIT: tuple[Shape, ...] = (
    {"name": "search", "arguments": {"text": "waves"}},
    {"name": "read_file", "arguments": {"path": "src/app.py"}},
    {"name": "read_file", "arguments": {"path": "src/tide.py"}},
    {"name": "read_file", "arguments": {"path": "README.md"}},
    {
        "name": "edit_file",
        "arguments": {"path": "src/app.py", "old": "'waves'", "new": "'calm'"},
    },
)


def worked(developer: Developer, *parts: Shape, **work: Any) -> Shape:
    """A run whose authors do what the options say."""
    goal = developer.alice.goal(*(parts or (part("a"),)), work=work)
    return developer.alice.finished(goal=goal, **developer.where())


def detail(developer: Developer, run: Shape, key: str = "a") -> Shape:
    subtask = next(each for each in run["subtasks"] if each["key"] == key)
    path = f"/sessions/{run['id']}/subtasks/{subtask['id']}"
    found: Shape = developer.alice.do("GET", path)
    return found


def calls(developer: Developer, run: Shape) -> list[Shape]:
    """The calls of the latest attempt."""
    made: list[Shape] = detail(developer, run)["attempts"][-1]["calls"]
    return made


def contents(developer: Developer, run: Shape) -> dict[str, str]:
    changes = developer.alice.do("GET", f"/sessions/{run['id']}/changes")["files"]
    return {change["path"]: change["content"] for change in changes}


def told(run: Shape) -> list[Shape]:
    """The events of its calls."""
    rows = Event.objects.filter(stream=run["id"], type="subtask.tool").order_by("seq")
    return [json.loads(row.data) for row in rows]


def works(run: Shape) -> list[Step]:
    return list(Step.objects.filter(run=run["id"], kind="work").order_by("id"))


# --- A loop ---------------------------------------------------------------------------------------


def test_an_author_reads_three_files_and_edits_one(developer: Developer, tmp_path: Path) -> None:
    run = worked(developer, calls=READ_AND_EDIT)
    assert run["status"] == "completed"
    assert contents(developer, run) == {"src/app.py": "print('calm')\n"}
    developer.alice.do("POST", f"/sessions/{run['id']}/changes/apply", branch="ai/calm")
    folder = developer.hosted.clone(tmp_path / "clone", "ai/calm")
    assert git(folder, "diff", "--name-only", "HEAD~1").split() == ["src/app.py"]
    assert (folder / "src/app.py").read_text() == "print('calm')\n"


def test_each_call_is_told_and_kept_and_each_turn_is_billed_once(on_github: Developer) -> None:
    run = worked(on_github, calls=READ_AND_EDIT)
    shown = [(each["name"], each["path"], each["query"], each["ok"], each["summary"])
             for each in told(run)]  # fmt: skip
    assert shown == [
        ("search", None, "waves", True, "1 found"),
        ("read_file", "src/app.py", None, True, "lines 1 to 1 of 1"),
        ("read_file", "src/tide.py", None, True, "lines 1 to 1 of 1"),
        ("read_file", "README.md", None, True, "lines 1 to 1 of 1"),
        ("edit_file", "src/app.py", None, True, "changed"),
        ("list_files", None, None, True, "6 files"),
        ("finish", None, None, True, "handed in"),
    ]
    events = told(run)
    assert {(each["subtask_id"], each["attempt"]) for each in events} == {
        (run["subtasks"][0]["id"], 1)
    }
    assert not any("print" in json.dumps(each) for each in events)
    made = calls(on_github, run)
    assert [each["number"] for each in made] == [each["call"] for each in events] == [*range(1, 8)]
    assert made[1]["result"] == "src/app.py, lines 1 to 1 of 1:\n1\tprint('waves')"
    turns = works(run)
    assert len(turns) == 7
    assert [turn.goes_on for turn in turns] == [True] * 6 + [False]
    assert all(turn.attempt_id == turns[0].attempt_id for turn in turns)
    charges = Charge.objects.filter(pk__in=[turn.pk for turn in turns])
    assert [charge.status for charge in charges] == ["settled"] * 7
    on_github.alice.check_money(run)


def test_the_result_is_what_the_author_hands_in(on_github: Developer) -> None:
    finish = {"name": "finish", "arguments": {"result": "# All calm", "summary": "Calm."}}
    run = worked(on_github, calls=(READ_AND_EDIT[1], READ_AND_EDIT[4], finish))
    [attempt] = detail(on_github, run)["attempts"]
    assert (attempt["body"], attempt["summary"], attempt["faults"]) == ("# All calm", "Calm.", [])
    assert attempt["files"] == [{"path": "src/app.py", "op": "update", "size": 14}]
    [deliverable] = [each for each in run["deliverables"] if each["subtask_id"]]
    assert deliverable["is_cut"] is False


def test_an_author_sees_what_finished_parts_have_made(on_github: Developer) -> None:
    read = {"name": "read_file", "arguments": {"path": "src/tide.py"}}
    find = {"name": "search", "arguments": {"text": "Part a", "path": "src"}}
    goal = on_github.alice.goal(part("a", writes=["src/tide.py"]), part("b", "a"))
    goal = on_github.alice.also(goal, step="work", subtask="Part b", calls=[read, find])
    run = on_github.alice.finished(goal=goal, **on_github.where())
    [attempt] = detail(on_github, run, "b")["attempts"]
    assert "Part a" in attempt["calls"][0]["result"]
    assert "src/tide.py:1: " in attempt["calls"][1]["result"]


def test_an_author_of_a_revision_finds_its_files_as_it_has_left_them(on_github: Developer) -> None:
    """The reviewer asks once for the tax."""
    write = {"name": "write_file", "arguments": {"path": "prices.md", "content": "tea: 4"}}
    edit = {"name": "edit_file", "arguments": {"path": "prices.md", "old": "4", "new": "5"}}
    run = worked(on_github, part("a", title="Prices"), calls=(write,))
    assert contents(on_github, run) == {"prices.md": "tea: 4\n"}
    run = worked(on_github, part("a", title="Prices"), calls=(write, edit))
    first, second = detail(on_github, run)["attempts"]
    assert [first["reason"], second["reason"]] == ["initial", "revision"]
    assert contents(on_github, run) == {"prices.md": "tea: 5\n"}


def test_a_model_without_functions_writes_its_files_in_its_answer(on_github: Developer) -> None:
    run = worked(on_github)
    step = works(run)[0]
    step.run = Run.objects.get(pk=run["id"])
    model = get_catalog().models[step.model]
    with_tools, without = ask(step, model), ask(step, replace(model, tools=False))
    assert with_tools.tools is not None
    assert "<repository>" in with_tools.messages[0].text
    assert "@@OLD" not in with_tools.messages[0].text
    assert without.tools is None
    assert "@@OLD" in without.messages[0].text


def test_a_run_without_a_repository_calls_nothing(on_github: Developer) -> None:
    run = on_github.alice.finished(part("a"))
    assert detail(on_github, run)["attempts"][0]["calls"] == []
    assert [turn.result.keys() for turn in works(run)] == [{"sections"}]


# --- What goes wrong ------------------------------------------------------------------------------


def test_what_is_refused_is_said_and_the_author_goes_on(on_github: Developer) -> None:
    wrong = [
        {"name": "read_file", "arguments": '{"path": "src'},
        {"name": "read_file", "arguments": {"path": "src/ap.py"}},
        {"name": "run shell!", "arguments": {"command": "ls"}},
        {"name": "edit_file", "arguments": {"path": "src/tide.py", "old": "x", "new": "y"}},
        {"name": "write_file", "arguments": {"path": "../up", "content": "x"}},
        {"name": "write_file", "arguments": {"path": "link", "content": "x"}},
    ]
    run = worked(on_github, tool_calls=wrong)
    assert run["status"] == "completed"
    made = calls(on_github, run)
    assert [each["ok"] for each in made] == [False] * 6 + [True]
    words = [each["result"] for each in made[:6]]
    assert "no valid JSON" in words[0]
    assert "Do you mean src/app.py?" in words[1]
    assert (made[2]["name"], "no such function" in words[2]) == ("run_shell_", True)
    assert "Read it first" in words[3]
    assert '".."' in words[4]
    assert "symbolic link" in words[5]
    assert contents(on_github, run) == {}
    on_github.alice.check_money(run)


def test_an_author_that_finishes_beside_a_call_that_is_refused_is_told(
    on_github: Developer,
) -> None:
    both = [
        {"name": "write_file", "arguments": {"path": "new.md", "content": "new"}},
        {"name": "write_file", "arguments": {"path": "src/app.py", "content": "x"}},
        {"name": "finish", "arguments": {"result": "Done."}},
    ]
    run = worked(on_github, tool_calls=both)
    made = calls(on_github, run)
    assert [each["ok"] for each in made[:3]] == [True, False, False]
    assert "is not finished" in made[2]["result"]
    assert contents(on_github, run) == {"new.md": "new\n"}
    assert made[-1]["name"] == "finish"
    assert made[-1]["ok"]


def test_an_author_has_a_number_of_calls_and_is_told_when_few_are_left(
    on_github: Developer,
) -> None:
    read = {"name": "read_file", "arguments": {"path": "README.md"}}
    run = worked(on_github, tool_calls=[read] * (MAX_CALLS + 2))
    made = calls(on_github, run)
    assert [each["ok"] for each in made] == [True] * MAX_CALLS + [False, False, True]
    assert "no more are left" in made[MAX_CALLS]["result"]
    first, last = works(run)
    assert (first.result["is_last"], last.result["is_last"]) == (False, True)
    assert (run["status"], made[-1]["name"]) == ("completed", "finish")
    step, model = last, get_catalog().models[last.model]
    step.run = Run.objects.get(pk=run["id"])
    asked = ask(step, model)
    assert asked.tools is not None
    assert [each.name for each in asked.tools.functions] == ["finish"]
    assert "call finish now" in asked.messages[-1].text


def test_an_author_that_will_not_finish_hands_in_its_files(on_github: Developer) -> None:
    """Whatever it is answered, it writes the same again."""
    write = {"name": "write_file", "arguments": {"path": "new.md", "content": "new"}}
    run = worked(on_github, tool_calls=[write] * MAX_CALLS, calls_forever=True)
    assert run["status"] == "completed"
    assert run["subtasks"][0]["needs_attention"]
    assert contents(on_github, run) == {"new.md": "new\n"}
    attempt = detail(on_github, run)["attempts"][-1]
    assert attempt["faults"][0]["path"] is None
    assert "has not finished" in attempt["faults"][0]["message"]
    on_github.alice.check_money(run)


READ: Shape = {"name": "read_file", "arguments": {"path": "README.md"}}
FOREVER: Shape = {"step": "work", "tool_calls": [READ] * MAX_CALLS, "calls_forever": True}


def test_after_an_author_that_used_up_its_calls_in_vain_another_vendors_begins_anew(
    on_github: Developer,
) -> None:
    """The same author would do the same again, and what it announces is no result."""
    goal = on_github.alice.goal(part("a", model="gpt-6-luna"))
    announced = {**FOREVER, "model": "gpt-6-luna", "text": "I will call read_file."}
    goal = on_github.alice.also(goal, **announced)
    run = on_github.alice.finished(goal=goal, **on_github.where())
    assert run["status"] == "completed"
    first, second = detail(on_github, run)["attempts"]
    assert (first["status"], first["body"], first["reason"]) == ("failed", "", "initial")
    assert first["error"]["code"] == "nothing_handed_in"
    assert (second["status"], second["reason"]) == ("completed", "fallback")
    assert [(each["number"], each["ok"]) for each in second["calls"]] == [(1, True), (2, True)]
    assert [turn.model == "gpt-6-luna" for turn in works(run)] == [True, True, False, False]
    on_github.alice.check_money(run)


def test_a_part_fails_whose_authors_all_use_up_their_calls_and_begins_anew_when_resumed(
    on_github: Developer,
) -> None:
    goal = on_github.alice.also(on_github.alice.goal(part("a")), **FOREVER)
    run = on_github.alice.finished(goal=goal, **on_github.where())
    assert (run["status"], run["pause_reason"]) == ("paused", "step_failed")
    assert run["subtasks"][0]["error"]["code"] == "nothing_handed_in"
    assert [each["number"] for each in calls(on_github, run)] == [*range(1, 2 * MAX_CALLS + 1)]
    assert [turn.continues_id is None for turn in works(run)] == [True, False] * 2
    with on_github.alice.follow(run) as follower:
        on_github.alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert follower.pictures[-1]["status"] == "paused"
    assert [turn.continues_id is None for turn in works(run)] == [True, False] * 4


def test_a_host_that_fails_meanwhile_pauses_the_run_and_no_call_is_carried_out_twice(
    developer: Developer,
) -> None:
    """One blob is read for the digest; the host fails when a file is asked for."""
    developer.hosted.fail("get_blob", status=503, skip=1, times=1_000)
    run = worked(developer, calls=READ_AND_EDIT[1:])
    assert (run["status"], run["pause_reason"]) == ("paused", "repository_unavailable")
    assert told(run) == []
    developer.hosted.control.stop_failing()
    with developer.alice.follow(run) as follower:
        developer.alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    assert [each["call"] for each in told(run)] == [*range(1, 7)]
    assert contents(developer, last) == {"src/app.py": "print('calm')\n"}
    developer.alice.check_money(last)
