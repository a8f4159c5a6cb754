"""Which changes fit a repository as it is now."""

import pytest

from integrations.githosts.types import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry
from integrations.workspaces.changes import MAX_FILE_BYTES, Fitting, StagedChange, blob_id, fit

OLD, NEW, THEIRS = blob_id("old\n"), blob_id("new\n"), blob_id("theirs\n")


def tree(**modes: str) -> dict[str, Entry]:
    """`README.md` and `src/app.py` with the old content, and more by their modes."""
    entries = {"README.md": FILE, "src/app.py": FILE, **modes}
    return {path: Entry(path, mode, OLD, 4) for path, mode in entries.items()}


def create(path: str, content: str = "new\n") -> StagedChange:
    return StagedChange(path=path, op="create", content=content)


def update(path: str, content: str = "new\n", seen: str = OLD) -> StagedChange:
    return StagedChange(path=path, op="update", content=content, seen=frozenset({seen}))


def delete(path: str, seen: str = OLD) -> StagedChange:
    return StagedChange(path=path, op="delete", seen=frozenset({seen}))


def move(source: str, path: str, content: str | None = None) -> StagedChange:
    return StagedChange(
        path=path, op="move", previous_path=source, content=content, seen=frozenset({OLD})
    )


def fitted(*staged: StagedChange, at: dict[str, Entry] | None = None) -> Fitting:
    return fit(staged, at if at is not None else tree(), may_write_workflows=False)


def faults(*staged: StagedChange, at: dict[str, Entry] | None = None) -> dict[str, str]:
    return {path: fault.code for path, fault in fitted(*staged, at=at).faults.items()}


def test_files_are_created_updated_deleted_and_moved() -> None:
    found = fitted(
        create("docs/new.md"), update("README.md"), move("src/app.py", "src/main.py", "moved\n")
    )
    assert found.faults == {}
    assert [(each.op, each.path, each.previous_path) for each in found.changes] == [
        ("move", "src/main.py", "src/app.py"),
        ("update", "README.md", None),
        ("create", "docs/new.md", None),
    ]


def test_what_frees_a_path_comes_first() -> None:
    found = fitted(create("APP.py"), create("readme.md"), delete("README.md"))
    assert [each.op for each in found.changes] == ["delete", "create", "create"]


def test_a_file_and_a_folder_do_not_change_places_in_one_commit() -> None:
    assert faults(create("src/app.py/part.py"), delete("src/app.py")) == {
        "src/app.py/part.py": "conflict"
    }
    assert faults(create("src"), delete("src/app.py")) == {"src": "conflict"}


@pytest.mark.parametrize("mode", [FILE, EXECUTABLE])
def test_a_file_keeps_its_mode(mode: str) -> None:
    at = tree(**{"run.sh": mode, "go.sh": mode})
    changes = fitted(update("run.sh"), move("go.sh", "start.sh"), at=at).changes
    assert {each.mode for each in changes} == {mode}


def test_a_new_file_is_a_plain_one() -> None:
    assert fitted(create("run.sh")).changes[0].mode == FILE


def test_what_somebody_has_changed_is_a_conflict() -> None:
    at = {"README.md": Entry("README.md", FILE, THEIRS, 7)}
    for change in (update("README.md"), delete("README.md"), move("README.md", "x.md")):
        assert faults(change, at=at) == {change.path: "conflict"}


def test_what_was_written_from_here_is_no_conflict() -> None:
    at = {"README.md": Entry("README.md", FILE, THEIRS, 7)}
    seen = StagedChange(
        path="README.md", op="update", content="new\n", seen=frozenset({OLD, THEIRS})
    )
    assert faults(seen, at=at) == {}


def test_a_file_that_was_created_from_here_is_updated() -> None:
    at = {"new.md": Entry("new.md", EXECUTABLE, THEIRS, 7)}
    again = StagedChange(path="new.md", op="create", content="new\n", seen=frozenset({THEIRS}))
    [change] = fitted(again, at=at).changes
    assert (change.op, change.mode) == ("update", EXECUTABLE)


def test_a_text_with_conflict_markers_is_not_written() -> None:
    marked = "<<<<<<< this run\nnew\n=======\nold\n>>>>>>> main\n"
    assert faults(update("README.md", marked)) == {"README.md": "conflict"}
    assert faults(update("README.md", "A title\n=======\n")) == {}


def test_what_is_gone_is_not_found() -> None:
    for change in (update("gone.md"), delete("gone.md"), move("gone.md", "x.md")):
        assert faults(change) == {change.path: "not_found"}


def test_a_file_that_came_meanwhile_is_a_conflict() -> None:
    assert faults(create("README.md")) == {"README.md": "conflict"}
    assert faults(move("src/app.py", "README.md")) == {"README.md": "conflict"}


def test_what_is_there_already_is_unchanged() -> None:
    assert faults(create("README.md", "old\n")) == {"README.md": "unchanged"}
    assert faults(update("README.md", "old\n")) == {"README.md": "unchanged"}
    at = {"README.md": Entry("README.md", FILE, NEW, 4)}
    assert faults(update("README.md", "new\n"), at=at) == {"README.md": "unchanged"}


@pytest.mark.parametrize("mode", [SYMLINK, SUBMODULE])
def test_links_and_submodules_are_not_written(mode: str) -> None:
    at = tree(library=mode)
    for change in (update("library"), delete("library"), move("library", "x")):
        assert faults(change, at=at) == {change.path: "protected"}
    assert faults(create("library/x.py"), at=at) == {"library/x.py": "conflict"}


def test_a_file_and_a_folder_do_not_share_a_path() -> None:
    assert faults(create("src")) == {"src": "conflict"}
    assert faults(create("README.md/x.md")) == {"README.md/x.md": "conflict"}


@pytest.mark.parametrize(
    "path", ["readme.md", "SRC/new.py", "Src/app.py", "caf\u00e9/x.txt", "CAFE\u0301/X.TXT"]
)
def test_two_paths_do_not_differ_in_capitals_or_accents_alone(path: str) -> None:
    at = tree(**{"cafe\u0301/x.txt": FILE})
    assert faults(create(path), at=at) == {path: "invalid_path"}


def test_nor_do_two_of_one_set() -> None:
    assert faults(create("a/x.md"), create("A/y.md")) == {"a/x.md": "invalid_path"}
    assert faults(create("x.md"), create("X.md")) == {"x.md": "invalid_path"}


def test_a_renamed_file_may_differ_in_capitals_alone() -> None:
    assert faults(move("README.md", "Readme.md")) == {}


def test_folders_that_differ_already_take_new_files() -> None:
    at = tree(**{"SRC/x.py": FILE})
    assert faults(create("SRC/a.py"), create("src/b.py"), at=at) == {}


def test_workflows_need_a_token_that_may_write_them() -> None:
    path = ".github/workflows/ci.yml"
    assert faults(create(path)) == {path: "protected"}
    assert faults(move("README.md", path)) == {path: "protected"}
    assert not fit([create(path)], tree(), may_write_workflows=True).faults


def test_a_file_has_a_limit() -> None:
    assert faults(create("a.txt", "x" * MAX_FILE_BYTES)) == {}
    assert faults(create("a.txt", "ü" * MAX_FILE_BYTES)) == {"a.txt": "too_large"}


def test_one_fault_does_not_stop_the_others() -> None:
    found = fitted(create("README.md"), update("src/app.py"), delete("gone.md"))
    assert [each.path for each in found.changes] == ["src/app.py"]
    assert set(found.faults) == {"README.md", "gone.md"}


def test_the_id_of_a_blob_is_gits() -> None:
    assert blob_id("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert blob_id("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
