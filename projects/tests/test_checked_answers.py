"""Faulty files of an answer go back to their author once, then to the reviewer and the user."""

from projects.tests.conftest import NewPrincipal
from projects.tests.developer import Developer
from projects.tests.principal import part
from projects.tests.test_declared_files import attempts, file, worked
from projects.types import StepKind

BROKEN = file("sea.py", "def tide(", "    return 1")
SENTENCE = "Line 1: '(' was never closed near \"def tide(\"."


def test_a_faulty_file_goes_back_once_then_to_the_reviewer_and_the_user(
    on_github: Developer,
) -> None:
    goal = on_github.alice.goal(part("a"), work={"text": f"Done.\n{BROKEN}"})
    run = on_github.alice.finished(goal=goal, **on_github.where())
    first, second = attempts(on_github.alice, run)
    assert [first["reason"], second["reason"]] == ["initial", "revision"]
    assert first["review"] == {"model": None, "points": [], "issues": [f"sea.py: {SENTENCE}"]}
    assert second["faults"] == [{"path": "sea.py", "message": SENTENCE, "mended": False}]
    assert [each["path"] for each in second["files"]] == ["sea.py"]
    assert run["subtasks"][0]["needs_attention"] is True
    review = on_github.prompt(run, StepKind.REVIEW)
    assert f"<faults>\n- sea.py: {SENTENCE}\n</faults>" in review
    on_github.alice.check_money(run)


def test_sound_files_and_links_between_them_and_to_what_is_planned_are_no_fault(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    files = [
        file("docs/sea.md", "# Sea", "", "[a](../tide.json) [b](later.md) [c](#sea)"),
        file("tide.json", '{"a": 1}'),
        file("page.html", "<div>"),
    ]
    goal = alice.goal(
        part("a"), part("b", "a", writes=["docs/later.md"]), work={"text": "\n".join(files)}
    )
    goal = alice.also(goal, step="work", subtask="Part b", text=file("docs/later.md", "# Later"))
    run = alice.finished(goal=goal)
    assert [len(each["attempts"]) for each in run["subtasks"]] == [1, 1]
    assert not any(each["needs_attention"] for each in run["subtasks"])


def test_a_file_that_was_broken_in_the_repository_is_no_fault_of_the_author(
    on_github: Developer,
) -> None:
    on_github.hosted.somebody_commits({"sea.py": "def tide(\n"})
    goal = on_github.alice.goal(part("a", reads=["sea.py"]), work={"text": f"Done.\n{BROKEN}"})
    run = on_github.alice.finished(goal=goal, **on_github.where())
    [only] = attempts(on_github.alice, run)
    assert only["faults"] == []


def test_a_link_to_a_file_that_nobody_writes_is_told(principal: NewPrincipal) -> None:
    alice = principal()
    run = worked(alice, file("sea.md", "# Sea", "", "[tide](tide.csv)"))
    first, second = attempts(alice, run)
    assert first["review"]["issues"] == ['sea.md: Line 3: the link "tide.csv" leads to no file.']
    assert second["reason"] == "revision"
