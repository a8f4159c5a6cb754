"""Random repositories and sets of changes: what the write says is what Git says, and what somebody
else commits meanwhile is kept.

WRITES=1000 in the environment tries that many.
"""

import os
import random
from typing import Any
from uuid import uuid4

import pygit2
import pytest

from integrations.githosts.registry import connect
from integrations.githosts.tests.hosted import AUTHOR, COMMITTER
from integrations.githosts.types import EXECUTABLE, FILE, SUBMODULE, SYMLINK, HostKind, Op
from integrations.workspaces.changes import StagedChange, blob_id
from integrations.workspaces.services.writing import WriteRequest, Written, write_changes
from simulator.process import RunningSimulator

WRITES = int(os.environ.get("WRITES", "100"))
NAMES = ("a", "b", "C", "c", "ü.md", "x y.txt", "run.sh", "deep")
TEXTS = ("", "one\n", "two\r\n", "no end", "ü\n" * 50)


def names_of(change: StagedChange) -> set[str]:
    """The path of a change, and that of the file that it moves."""
    return {change.path, change.source}


class Case:
    """A repository, a set of changes made at its first commit, and what somebody commits then."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a seed makes it repeatable
        self.kind = self.random.choice(list(HostKind))
        self.files = self._files(self.random.randint(1, 14))
        self.changes = self._changes()
        self.theirs = self._theirs()
        self.is_new = self.random.random() < 0.4
        self.when = self.random.choice(["first", "get_branch", "create_tree", "create_commit"])

    def _path(self) -> str:
        depth = self.random.choice([1, 1, 2, 3])
        return "/".join(self.random.choice(NAMES) for _ in range(depth))

    def _files(self, number: int) -> dict[str, dict[str, str]]:
        files: dict[str, dict[str, str]] = {"README.md": {"content": "# Base\n", "mode": FILE}}
        for _ in range(number):
            path = self._path()
            parents = {"/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 1)}
            if parents & files.keys() or any(each.startswith(f"{path}/") for each in files):
                continue
            mode = self.random.choice([FILE, FILE, FILE, EXECUTABLE, SYMLINK, SUBMODULE])
            content = "1" * 40 if mode == SUBMODULE else self.random.choice(TEXTS)
            files[path] = {"content": content or "x", "mode": mode}
        return files

    def _changes(self) -> tuple[StagedChange, ...]:
        changes: dict[str, StagedChange] = {}
        for _ in range(self.random.randint(1, 8)):
            source = self.random.choice([*self.files, self._path(), self._path()])
            is_there = source in self.files
            op: Op = self.random.choice(["update", "delete", "move"]) if is_there else "create"
            path = self._path() if op == "move" else source
            seen = {blob_id(self.files[source]["content"])} if is_there else set()
            # No two changes are of one file.
            if {path, source} & {name for each in changes.values() for name in names_of(each)}:
                continue
            changes[path] = StagedChange(
                path=path,
                op=op,
                seen=frozenset(seen),
                base_sha=min(seen, default=""),
                base=None if is_there else "",
                content=self._content(op),
                previous_path=source if op == "move" else None,
            )
        return tuple(changes.values())

    def _content(self, op: Op) -> str | None:
        """None for a deleted file, and for a moved one that stays as it is."""
        is_kept = op == "move" and self.random.random() < 0.5
        return None if op == "delete" or is_kept else self.random.choice(TEXTS)

    def _theirs(self) -> dict[str, Any]:
        """Content, or None for a deleted file, by path; only what Git accepts."""
        theirs: dict[str, Any] = {}
        for _ in range(self.random.randint(0, 4)):
            path = self.random.choice([*self.files, f"theirs/{self.random.randint(0, 3)}.md"])
            mode = self.files.get(path, {}).get("mode", FILE)
            if path == "README.md" or mode in (SYMLINK, SUBMODULE):
                continue
            is_deleted = path in self.files and self.random.random() < 0.3
            theirs[path] = None if is_deleted else {"content": "theirs\n", "mode": mode}
        return theirs


def written(case: Case, simulator: RunningSimulator) -> tuple[Written, pygit2.Repository, str]:
    """Carry it out. Returns what was said, the repository, and the branch."""
    control, login = simulator.githost, f"alice-{uuid4().hex[:12]}"
    path, token = f"{login}/site", f"token-of-{login}"
    made = control.create_repository(case.kind, path, files=case.files)
    control.create_token(case.kind, token, login=login)
    branch = "ai/new" if case.is_new else "main"
    commit = {"host": case.kind, "path": path, "branch": branch, "files": case.theirs}
    with connect(case.kind, control.base_url(case.kind), token) as host:
        entries = host.list_tree(path, made["commit"])
        if case.theirs and case.when == "first" and not case.is_new:
            control.commit(case.kind, path, files=case.theirs)
        elif case.theirs and not case.is_new:
            control.fail(case.when, host=case.kind, path=path, commit=commit)
        said = write_changes(
            host,
            WriteRequest(
                repository=path,
                branch=branch,
                base=made["commit"],
                tree={each.path: each for each in entries},
                changes=case.changes,
                message="Change",
                author=AUTHOR,
                committer=COMMITTER,
                key=uuid4(),
                trailers={},
                may_write_workflows=True,
            ),
            announce=lambda commit, faults: None,
        )
    control.stop_failing()
    return said, pygit2.Repository(made["folder"]), branch


def files_at(repository: pygit2.Repository, commit: str) -> dict[str, tuple[str, str]]:
    """Mode and id of everything in a commit, by path."""
    found: dict[str, tuple[str, str]] = {}

    def walk(tree: pygit2.Tree, prefix: str) -> None:
        for item in tree:
            path = f"{prefix}{item.name}"
            if isinstance(item, pygit2.Tree):
                walk(item, f"{path}/")
            else:
                found[path] = (f"{item.filemode:06o}", str(item.id))

    commit_object = repository[commit]
    assert isinstance(commit_object, pygit2.Commit)
    walk(commit_object.tree, "")
    return found


@pytest.mark.parametrize("seed", range(WRITES))
def test_what_is_said_is_what_git_says(seed: int, simulator: RunningSimulator) -> None:
    case = Case(seed)
    said, repository, branch = written(case, simulator)
    left_out = said.outcome.faults.keys()
    wanted = {each.path: each for each in case.changes}
    assert left_out <= wanted.keys()
    if said.commit is None:
        assert left_out == wanted.keys()
        return
    commit = repository[said.commit]
    assert isinstance(commit, pygit2.Commit)
    before, after = (
        files_at(repository, str(commit.parent_ids[0])),
        files_at(repository, said.commit),
    )
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    fitting = [change for change in case.changes if change.path not in left_out]
    assert changed == {name for change in fitting for name in names_of(change)}
    for change in fitting:
        if change.op == "move":
            assert change.source not in after
        assert (change.path in after) == (change.op != "delete")
        if change.op != "delete":
            mode, sha = before.get(change.source, (FILE, ""))
            if change.path in said.outcome.merges:
                sha = blob_id(said.outcome.merges[change.path].text or "")
            elif change.content is not None:
                sha = blob_id(change.content)
            assert after[change.path] == (mode, sha)
    tip = repository.references[f"refs/heads/{branch}"].target
    assert repository.descendant_of(tip, commit.id) or tip == commit.id


def test_the_cases_are_of_all_kinds() -> None:
    """Otherwise the test above would say less than it seems to."""
    cases = [Case(seed) for seed in range(100)]
    assert {case.kind for case in cases} == {*HostKind}
    assert {case.is_new for case in cases} == {True, False}
    assert {change.op for case in cases for change in case.changes} == {
        "create",
        "update",
        "delete",
        "move",
    }
    assert sum(bool(case.theirs) for case in cases) > 50
