"""The diffs of GET /changes, as `git apply` takes them."""

from pathlib import Path

from integrations.githosts.tests.hosted import git
from projects.patches import patch_of
from projects.tests.developer import Developer
from projects.tests.principal import part
from projects.tests.reviewer import FILES, Reviewer

BEFORE = {
    "README.md": "# Seaside\n",
    "run.sh": "#!/bin/sh\n",
    "docs/a b.md": "one\ntwo\n",
    "docs/ü.md": "one\ntwo\n",
    "open.txt": "no end",
    "end.txt": "an end\n",
    "windows.txt": "a\r\nb\r\n",
    "mixed.txt": "a\r\nb\n",
    "empty.txt": "",
    "gone.txt": "gone\n",
    "old name.txt": "".join(f"{number}\n" for number in range(30)),
    "kept.txt": "kept\n",
    "lines.txt": "".join(f"{number}\n" for number in range(100)),
}
# None is a deleted file; of moved ones where they were.
AFTER: dict[str, str | None] = {
    "README.md": "# Other\n",
    "run.sh": "#!/bin/sh\necho\n",
    "docs/a b.md": "one\nzwei\n",
    "docs/ü.md": None,
    "docs/new ü.md": "new\n",
    "new.txt": "no end",
    "open.txt": "no end\nany more\n",
    "end.txt": "an end no more",
    "windows.txt": "a\r\nc\r\n",
    "mixed.txt": "a\nb\r\n",
    "empty.txt": "filled\n",
    "new empty.txt": "",
    "gone.txt": None,
    "new name.txt": "".join(f"{number}\n" for number in range(1, 30)),
    "lib/kept.txt": "kept\n",
    "lines.txt": "".join(f"{number if number % 40 else '@@ -1 +1 @@'}\n" for number in range(100)),
}
MOVED = {"new name.txt": "old name.txt", "lib/kept.txt": "kept.txt"}


def written(folder: Path) -> Path:
    """A repository with the files of before."""
    for path, content in BEFORE.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode())
    (folder / "run.sh").chmod(0o755)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    return folder


def test_git_applies_all_patches_at_once(tmp_path: Path) -> None:
    folder = written(tmp_path)
    patches = [
        patch_of(
            path,
            BEFORE.get(MOVED.get(path, path)),
            content,
            previous_path=MOVED.get(path),
            mode="100755" if path == "run.sh" else "100644",
        )
        for path, content in AFTER.items()
    ]
    (tmp_path / ".patch").write_bytes("".join(patches).encode())

    git(folder, "apply", "--check", "--index", ".patch")
    said = git(folder, "apply", "--index", "--verbose", ".patch")

    assert "warning" not in said
    there = {path: content.encode() for path, content in AFTER.items() if content is not None}
    tracked = git(folder, "ls-files").splitlines()
    assert {path: (folder / path).read_bytes() for path in tracked} == there
    assert git(folder, "ls-files", "--stage", "run.sh").startswith("100755")


def test_a_patch_of_nothing_is_a_header(tmp_path: Path) -> None:
    folder = written(tmp_path)
    for path in ("new.txt", "README.md"):
        patch = patch_of(path, BEFORE.get(path), BEFORE.get(path, ""))
        assert "@@" not in patch
    (tmp_path / ".patch").write_text(patch_of("new.txt", None, ""))
    git(folder, "apply", ".patch")
    assert (folder / "new.txt").read_bytes() == b""


def test_the_diffs_of_a_run_are_one_patch(reviewer_on_github: Reviewer, tmp_path: Path) -> None:
    reviewer = reviewer_on_github
    files = {
        "README.md": "# Other\n",
        "run.sh": "#!/bin/sh\necho\n",
        "new/a ü.md": "x",
        "open.txt": "",
        "windows.txt": "a\r\nc\r\n",
    }
    run = reviewer.staged(**files)
    diffs = [file["diff"] for file in reviewer.changes(run)["files"]]
    reviewer.apply(run, branch="ai/x")
    folder = reviewer.hosted.clone(tmp_path / "clone")
    (tmp_path / "patch").write_bytes("".join(diffs).encode())
    git(folder, "apply", "--check", "--index", str(tmp_path / "patch"))
    git(folder, "apply", "--index", str(tmp_path / "patch"))
    assert git(folder, "diff", "--cached", "origin/ai/x") == ""
    assert git(folder, "write-tree") == git(folder, "rev-parse", "origin/ai/x^{tree}")


def test_what_was_written_before_is_what_a_diff_begins_with(
    reviewer_on_github: Reviewer, tmp_path: Path
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**{"README.md": "# Other\n", "new.md": "one\n", "open.txt": ""})
    reviewer.apply(run, branch="ai/x")
    reviewer.stage(run, {"README.md": "# Third\n", "new.md": "two\n", "open.txt": "again\n"})
    changes = reviewer.changes(run)["files"]
    assert [file["op"] for file in changes] == ["update", "update", "create"]
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    assert changes[1]["base_sha"] == git(folder, "rev-parse", "HEAD:new.md").strip()
    (tmp_path / "patch").write_text("".join(file["diff"] for file in changes))
    git(folder, "apply", str(tmp_path / "patch"))
    assert (folder / "README.md").read_text() == "# Third\n"


# --- One truth ------------------------------------------------------------------------------------


def test_files_and_changes_tell_the_same(on_github: Developer) -> None:
    """A model calls everything `create`; what that means is for the repository to say."""
    blocks = [
        "@@FILE {mark} create README.md\n# Other\n@@END {mark}",
        "@@FILE {mark} update new.md\nnew\n@@END {mark}",
        "@@FILE {mark} delete src/tide.py\n@@END {mark}",
        "@@FILE {mark} move lib/app.py\n@@FROM {mark} src/app.py\n@@END {mark}",
    ]
    alice = on_github.alice
    goal = alice.goal(
        part("a", reads=["README.md", "src/app.py", "src/tide.py"]),
        work={"text": "\n".join(["Done.", *blocks])},
    )
    run = alice.finished(goal=goal, **on_github.where())
    ops = {
        "README.md": "update",
        "new.md": "create",
        "src/tide.py": "delete",
        "lib/app.py": "move",
    }
    changes = alice.do("GET", f"/sessions/{run['id']}/changes")["files"]
    listed = [each for each in on_github.files(run).json() if each["origin"] == "staged"]
    events = alice.do("GET", f"/sessions/{run['id']}/events")
    staged = [each["data"] for each in events if each["type"] == "file.staged"]
    [proposed] = [each["data"]["files"] for each in events if each["type"] == "changes.proposed"]
    assert {each["path"]: each["op"] for each in changes} == ops
    for told in (listed, staged, proposed):
        assert {each["path"]: each["op"] for each in told} == {**ops, "src/app.py": "delete"}
    for path, op in ops.items():
        [file] = on_github.files(run, f"?path={path}").json()
        assert (file["origin"], file["op"]) == ("staged", op)


def test_a_written_file_is_told_as_what_it_was(reviewer_on_github: Reviewer) -> None:
    reviewer, alice = reviewer_on_github, reviewer_on_github.alice
    run = reviewer.finished(part("a", reads=[*FILES], writes=["README.md", "new.md"]))
    assert reviewer.apply(run)["status"] == "applied"
    shown = {each["path"]: each for each in alice.do("GET", f"/sessions/{run['id']}/files")}
    assert (shown["README.md"]["op"], shown["new.md"]["op"]) == ("update", "create")
