"""Files of answers that edit, move and replace those of a repository, and what does not fit."""

from pathlib import Path
from typing import Any

from integrations.githosts.tests.hosted import git
from projects.tests.developer import Developer
from projects.tests.principal import Shape, part
from projects.types import StepKind


def file(op: str, path: str, *lines: str) -> str:
    """A file of an answer; the simulator knows the mark."""
    return "\n".join([f"@@FILE {{mark}} {op} {path}", *lines, "@@END {mark}"])


def edits(path: str, *pairs: tuple[str, str]) -> str:
    lines = [line for old, new in pairs for line in ("@@OLD {mark}", old, "@@NEW {mark}", new)]
    return file("edit", path, *lines)


def worked(developer: Developer, *files: str, **fields: Any) -> Shape:
    """A run whose author writes these files, each time it is asked."""
    text = "\n".join(["Done.", *files])
    goal = developer.alice.goal(part("a", **fields), work={"text": text})
    return developer.alice.finished(goal=goal, **developer.where())


def attempts(developer: Developer, run: Shape) -> list[Shape]:
    path = f"/sessions/{run['id']}/subtasks/{run['subtasks'][0]['id']}"
    found: list[Shape] = developer.alice.do("GET", path)["attempts"]
    return found


def contents(developer: Developer, run: Shape) -> dict[str, str]:
    changes = developer.alice.do("GET", f"/sessions/{run['id']}/changes")["files"]
    return {change["path"]: change["content"] for change in changes}


def test_an_author_edits_a_file_in_place(developer: Developer) -> None:
    run = worked(
        developer, edits("src/app.py", ("print('waves')", "print('calm')")), reads=["src/app.py"]
    )
    assert contents(developer, run) == {"src/app.py": "print('calm')\n"}
    assert len(attempts(developer, run)) == 1


def test_an_edit_that_does_not_fit_is_given_back_once_with_the_reason(
    on_github: Developer,
) -> None:
    run = worked(
        on_github,
        edits("src/app.py", ("print('storm')", "print('calm')")),
        file("create", "new.md", "new"),
        reads=["src/app.py"],
    )
    first, second = attempts(on_github, run)
    assert [first["reason"], second["reason"]] == ["initial", "revision"]
    assert first["verdict"] == "revise"
    assert first["review"]["issues"] == [
        "src/app.py: The lines of edit 1 are not in the file. Copy them exactly."
    ]
    assert second["faults"][0]["path"] == "src/app.py"
    assert run["subtasks"][0]["needs_attention"]
    assert contents(on_github, run) == {"new.md": "new\n"}


def test_a_file_that_was_overwritten_unseen_is_shown_and_written_then(
    developer: Developer,
) -> None:
    run = worked(developer, file("update", "src/tide.py", "TIDE = 2"))
    first, second = attempts(developer, run)
    assert "was not read" in first["faults"][0]["message"]
    assert second["faults"] == []
    assert run["subtasks"][0]["reads"] == ["src/tide.py"]
    assert contents(developer, run) == {"src/tide.py": "TIDE = 2\n"}
    assert '<file name="src/tide.py">\nTIDE = 1\n' in developer.prompt(run, StepKind.WORK)
    developer.alice.check_money(run)


def test_it_is_given_back_without_reviews_as_well(on_github: Developer) -> None:
    goal = on_github.alice.goal(
        part("a"), work={"text": "Done.\n" + file("update", "src/tide.py", "TIDE = 2")}
    )
    run = on_github.alice.finished(goal=goal, review=False, **on_github.where())
    assert [each["reason"] for each in attempts(on_github, run)] == ["initial", "revision"]
    assert contents(on_github, run) == {"src/tide.py": "TIDE = 2\n"}


def test_an_edit_is_of_what_another_subtask_has_made(on_github: Developer) -> None:
    write = file("update", "src/tide.py", "TIDE = 2", "SPRING = 1")
    change = edits("src/tide.py", ("TIDE = 2", "TIDE = 3"))
    goal = on_github.alice.goal(
        part("a", writes=["src/tide.py"]), part("b", "a"), work={"text": f"Done.\n{write}"}
    )
    goal = on_github.alice.also(goal, step="work", subtask="Part b", text=f"Done.\n{change}")
    run = on_github.alice.finished(goal=goal, **on_github.where())
    assert contents(on_github, run) == {"src/tide.py": "TIDE = 3\nSPRING = 1\n"}


def staged(developer: Developer, run: Shape) -> dict[str, tuple[str, str | None]]:
    """Operation and earlier path of each change."""
    changes = developer.alice.do("GET", f"/sessions/{run['id']}/changes")["files"]
    return {change["path"]: (change["op"], change["previous_path"]) for change in changes}


def moved(path: str, source: str, *lines: str) -> str:
    return file("move", path, f"@@FROM {{mark}} {source}", *lines)


def test_a_file_is_moved(developer: Developer, tmp_path: Path) -> None:
    run = worked(
        developer,
        moved("lib/app.py", "src/app.py"),
        moved("lib/tide.py", "src/tide.py", "@@OLD {mark}", "TIDE = 1", "@@NEW {mark}", "TIDE = 2"),
        reads=["src/app.py", "src/tide.py"],
    )
    assert staged(developer, run) == {
        "lib/app.py": ("move", "src/app.py"),
        "lib/tide.py": ("move", "src/tide.py"),
    }
    path = f"/sessions/{run['id']}/changes/apply"
    result = developer.alice.do("POST", path, branch="ai/moved")
    assert result["counts"] == {"applied": 2, "failed": 0, "skipped": 0}
    folder = developer.hosted.clone(tmp_path / "clone", "ai/moved")
    renamed = git(folder, "diff", "--name-status", "-M10%", "HEAD~1").splitlines()
    assert renamed[0] == "R100\tsrc/app.py\tlib/app.py"
    assert (folder / "lib/tide.py").read_text() == "TIDE = 2\n"
    assert not (folder / "src").exists()
    assert staged(developer, run) == {}


def test_a_file_is_not_moved_onto_another(on_github: Developer) -> None:
    run = worked(on_github, moved("README.md", "src/app.py"), reads=["src/app.py", "README.md"])
    assert staged(on_github, run) == {}
    assert "There is a file" in attempts(on_github, run)[-1]["faults"][0]["message"]


def test_a_file_that_another_subtask_has_made_is_created_at_its_new_path(
    on_github: Developer,
) -> None:
    goal = on_github.alice.goal(
        part("a"), part("b", "a"), work={"text": "Done.\n" + file("create", "new.md", "new")}
    )
    later = "Done.\n" + moved("docs/new.md", "new.md")
    goal = on_github.alice.also(goal, step="work", subtask="Part b", text=later)
    run = on_github.alice.finished(goal=goal, **on_github.where())
    assert staged(on_github, run) == {"docs/new.md": ("create", None)}
    assert contents(on_github, run) == {"docs/new.md": "new\n"}


def test_a_file_that_takes_the_place_of_a_moved_one_is_kept(on_github: Developer) -> None:
    run = worked(
        on_github,
        moved("src/waves.py", "src/app.py"),
        file("update", "src/app.py", "import waves"),
        reads=["src/app.py"],
    )
    assert staged(on_github, run) == {
        "src/app.py": ("update", None),
        "src/waves.py": ("create", None),
    }
