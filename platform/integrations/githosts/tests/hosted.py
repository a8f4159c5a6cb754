"""Repositories at the simulated hosts, for tests."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from integrations.githosts.registry import connect
from integrations.githosts.types import Change, Commit, Entry, GitHost, HostKind, Person
from simulator.githost.client import GitHostControl
from simulator.process import RunningSimulator

FILES: dict[str, Any] = {
    "README.md": "# Site\n",
    "run.sh": {"content": "#!/bin/sh\n", "mode": "100755"},
    "src/app.py": "print(1)\n",
}
AUTHOR = Person("Alice", "alice@example.com")
COMMITTER = Person("The platform", "noreply@example.com")


@dataclass
class Hosted:
    """A repository of `login` at a host, which has nobody else's, and a token for it."""

    control: GitHostControl
    kind: HostKind
    login: str = field(default_factory=lambda: f"alice-{uuid4().hex[:12]}")
    clone_url: str = ""

    @classmethod
    def create(
        cls, simulator: RunningSimulator, kind: HostKind, *, files: Any = FILES, **options: Any
    ) -> "Hosted":
        made = cls(simulator.githost, kind)
        made.clone_url = made.add("site", files=files, **options)
        made.add_token(made.token)
        return made

    @property
    def repository(self) -> str:
        return f"{self.login}/site"

    @property
    def token(self) -> str:
        return f"token-of-{self.login}"

    @property
    def base_url(self) -> str:
        return self.control.base_url(self.kind)

    def add(self, name: str, **options: Any) -> str:
        """Another repository. Returns the URL for `git clone`."""
        made = self.control.create_repository(self.kind, f"{self.login}/{name}", **options)
        return str(made["clone_url"])

    def add_token(self, token: str, **options: Any) -> str:
        return self.control.create_token(self.kind, token, login=self.login, **options)

    def connect(self, token: str | None = None) -> GitHost:
        return connect(self.kind, self.base_url, token or self.token)

    def fail(self, operation: str, **options: Any) -> None:
        """A fault of this repository alone."""
        self.control.fail(operation, host=self.kind, path=self.repository, **options)

    def fail_for_all(self, operation: str, **options: Any) -> None:
        """A fault of an operation that is about no repository."""
        self.control.fail(operation, host=self.kind, **options)

    def somebody_commits(self, files: dict[str, Any], branch: str = "main") -> str:
        return self.control.commit(self.kind, self.repository, branch=branch, files=files)

    def change(self, **changes: Any) -> None:
        self.control.change_repository(self.kind, self.repository, **changes)

    def rename(self, name: str) -> str:
        """Give the repository another name. Returns its new path; the host answers to both."""
        path = f"{self.login}/{name}"
        self.change(moved_to=path)
        return path

    def operations(self) -> list[str]:
        """What the host was asked by this login, in order."""
        asked = self.control.requests()
        return [each["operation"] for each in asked if each["login"] == self.login]

    def clone(self, folder: Path, branch: str = "main") -> Path:
        """The branch as the system's own Git gets it."""
        url = self.clone_url.replace("http://", f"http://alice:{self.token}@")
        git(folder.parent, "clone", "--quiet", "--branch", branch, url, str(folder))
        return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - the system's own
        ["git", "-c", "core.quotePath=false", *arguments],  # noqa: S607
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def commit_on(
    host: GitHost,
    hosted: Hosted,
    *changes: Change,
    branch: str = "ai/change",
    is_new: bool = True,
    parent: str | None = None,
) -> Commit:
    """A commit on top of `parent`, by default the newest one of `main`."""
    tip = host.get_branch(hosted.repository, "main" if is_new else branch)
    assert tip is not None
    return Commit(
        repository=hosted.repository,
        branch=branch,
        is_new=is_new,
        parent=parent or tip.commit,
        tree=by_path(host.list_tree(hosted.repository, parent or tip.commit)),
        changes=changes,
        message="Change the site",
        author=AUTHOR,
        committer=COMMITTER,
        key=uuid4(),
    )


def by_path(entries: list[Entry]) -> dict[str, Entry]:
    return {entry.path: entry for entry in entries}
