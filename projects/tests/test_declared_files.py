"""The files that a plan says are read and written: which are refused, and which have to come."""

from typing import Any

import pytest

from projects.plan_files import nearest
from projects.tests.conftest import NewPrincipal
from projects.tests.developer import Developer
from projects.tests.principal import Principal, Shape, part
from projects.tests.test_planning import kinds


def file(path: str, *lines: str) -> str:
    """A file of an answer; the simulator knows the mark."""
    return "\n".join([f"@@FILE {{mark}} create {path}", *lines, "@@END {mark}"])


def worked(alice: Principal, *files: str, **fields: Any) -> Shape:
    """A run whose author writes these files, each time it is asked."""
    goal = alice.goal(part("a", **fields), work={"text": "\n".join(["Done.", *files])})
    return alice.finished(goal=goal)


def attempts(alice: Principal, run: Shape) -> list[Shape]:
    path = f"/sessions/{run['id']}/subtasks/{run['subtasks'][0]['id']}"
    found: list[Shape] = alice.do("GET", path)["attempts"]
    return found


# --- What comes -----------------------------------------------------------------------------------


def test_a_file_that_does_not_come_is_asked_for_once_and_then_needs_attention(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = worked(alice, file("sea.md", "# Sea"), writes=["sea.md", "tide.csv"])
    first, second = attempts(alice, run)
    assert [first["reason"], second["reason"]] == ["initial", "revision"]
    assert first["review"]["issues"] == [
        "tide.csv: The task names this file, and the answer does not have it. Write it."
    ]
    assert [fault["path"] for fault in second["faults"]] == ["tide.csv"]
    assert [each["path"] for each in second["files"]] == ["sea.md"]
    assert run["subtasks"][0]["needs_attention"] is True
    alice.check_money(run)


def test_an_answer_that_does_not_come_lacks_no_file(principal: NewPrincipal) -> None:
    """Its provider has failed: `error` says so, and no fault of an author is told beside it."""
    alice = principal()
    goal = alice.goal(part("a", model="gpt-6-luna", writes=["sea.md"]))
    away = alice.also(goal, step="work", model="gpt-6-luna", status=400)
    run = alice.finished(goal=away)
    first, second = attempts(alice, run)
    assert (first["error"]["code"], first["faults"]) == ("invalid_body", [])
    assert (second["reason"], second["faults"]) == ("fallback", [])


def test_a_file_at_a_path_that_will_not_do_is_given_back_as_well(principal: NewPrincipal) -> None:
    alice = principal()
    run = worked(alice, file("../sea.md", "# Sea"))
    first, second = attempts(alice, run)
    assert first["review"]["issues"] == ['../sea.md: The path has an empty part, "." or "..".']
    assert second["reason"] == "revision"


def test_a_code_fence_around_a_file_is_taken_off_and_told(principal: NewPrincipal) -> None:
    alice = principal()
    run = worked(alice, file("sea.py", "```python", "print(1)", "```"), writes=["sea.py"])
    [only] = attempts(alice, run)
    assert only["faults"] == [
        {
            "path": "sea.py",
            "message": "A code fence around the whole file was taken off.",
            "mended": True,
        }
    ]
    assert run["subtasks"][0]["needs_attention"] is False
    [read] = alice.do("GET", f"/sessions/{run['id']}/files?path=sea.py")
    assert read["content"] == "print(1)"


# --- What is planned ------------------------------------------------------------------------------


def test_a_plan_that_reads_what_is_not_there_is_repaired_and_told_what_is(
    on_github: Developer,
) -> None:
    alice = on_github.alice
    run = on_github.finished(part("a", reads=["src/App.py", "docs/gone.md", "README.md"]))
    assert kinds(run)[:2] == ["plan", "repair"]
    asked = alice.calls()[1]["user_text"]
    assert 'reads "src/App.py", which is not there' in asked
    assert run["subtasks"][0]["reads"] == ["README.md"]
    assert run["status"] == "completed"


def test_a_subtask_reads_what_another_one_writes_after_it(on_github: Developer) -> None:
    run = on_github.finished(part("b", reads=["new.md"]), part("a", writes=["new.md"]))
    assert kinds(run)[:2] == ["plan", "work"]
    assert [(each["key"], each["depends_on"]) for each in run["subtasks"]] == [
        ("a", []),
        ("b", ["a"]),
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"change": [{"key": "a", "reads": ["src/app.pi"]}]}, 'Is it "src/app.py"?'),
        ({"change": [{"key": "a", "writes": ["/etc/passwd"]}]}, "The path is not relative."),
        ({"add": [part("c", reads=["src"])]}, '"src/app.py" or "src/tide.py"'),
    ],
)
def test_a_user_is_told_which_files_will_not_do(
    on_github: Developer, changes: Shape, fault: str
) -> None:
    alice = on_github.alice
    run = on_github.finished(part("a", reads=["src/app.py"]), part("b"), approve_plan=True)
    path = f"/sessions/{run['id']}"
    refused = alice.send("PATCH", f"{path}/plan", **changes)
    assert (refused.status_code, refused.json()["code"]) == (422, "unsound_plan")
    assert fault in refused.json()["detail"]
    assert alice.do("GET", path) == run
    alice.do("PATCH", f"{path}/plan", change=[{"key": "b", "reads": ["src/tide.py"]}])


def test_without_a_repository_there_is_nothing_to_read_but_what_others_write(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a", writes=["sea.md"]), part("b"), approve_plan=True)
    path = f"/sessions/{run['id']}/plan"
    refused = alice.send("PATCH", path, change=[{"key": "b", "reads": ["nope.txt"]}])
    assert refused.status_code == 422
    assert 'reads "nope.txt", which is not there' in refused.json()["detail"]
    changed = alice.do("PATCH", path, change=[{"key": "b", "reads": ["sea.md"]}])
    assert changed["subtasks"][1]["depends_on"] == ["a"]


FILES = ["src/app.py", "src/deep/app.py", "src/tide.py", "docs/readme.md", "docs/index.md"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("app.py", ["src/app.py", "src/deep/app.py"]),
        ("SRC/App.py", ["src/app.py", "src/deep/app.py"]),
        ("docs", ["docs/index.md", "docs/readme.md"]),
        ("docs/", ["docs/index.md", "docs/readme.md"]),
        ("src/tides.py", ["src/tide.py"]),
        ("whales.txt", []),
        ("", []),
    ],
)
def test_who_names_a_file_that_is_not_there_is_told_what_may_be_meant(
    path: str, names: list[str]
) -> None:
    assert nearest(path, FILES) == names
