"""Commits at both hosts: what Git sees of them afterwards, and what stops them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from integrations.githosts.errors import BranchProtected, TipMoved
from integrations.githosts.tests.hosted import FILES, Hosted, commit_on, git
from integrations.githosts.types import EXECUTABLE, Change, HostKind
from integrations.safe_http.errors import AccessRefused, HostError, HostFailed, Rejected

CHANGES = (
    Change(op="delete", path="README.md"),
    Change(op="move", path="src/main.py", previous_path="src/app.py"),
    Change(op="update", path="run.sh", content="#!/bin/sh\necho ü\n", mode=EXECUTABLE),
    Change(op="create", path="docs/new file.md", content="no end of line"),
    Change(op="create", path="windows.txt", content="a\r\nb\r\n"),
)
UPDATE = Change(op="update", path="README.md", content="# Other\n")


def nothing(commit: str) -> None:
    """To be announced."""


def test_one_commit_has_all_changes_and_nothing_else(hosted: Hosted, tmp_path: Path) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, *CHANGES)
        sha = host.write(commit, announce=nothing)
    folder = hosted.clone(tmp_path / "clone", "ai/change")
    assert git(folder, "rev-parse", "HEAD").strip() == sha
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert git(folder, "diff", "--name-status", "-M", "HEAD~1").splitlines() == [
        "D\tREADME.md",
        "A\tdocs/new file.md",
        "M\trun.sh",
        "R100\tsrc/app.py\tsrc/main.py",
        "A\twindows.txt",
    ]
    assert (folder / "windows.txt").read_bytes() == b"a\r\nb\r\n"
    assert (folder / "docs/new file.md").read_bytes() == b"no end of line"
    assert git(folder, "ls-files", "--stage", "run.sh").startswith(EXECUTABLE)


def test_the_commit_names_its_author_its_committer_and_its_key(
    hosted: Hosted, tmp_path: Path
) -> None:
    """GitLab takes no committer: it is the owner of the token."""
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        host.write(commit, announce=nothing)
    folder = hosted.clone(tmp_path / "clone", "ai/change")
    form = "--format=%an <%ae>%n%cn <%ce>%n%s%n%(trailers:key=Apply-Id,valueonly)"
    committers = {
        HostKind.GITHUB: "The platform <noreply@example.com>",
        HostKind.GITLAB: f"{hosted.login} <{hosted.login}@example.com>",
    }
    assert git(folder, "log", "-1", form).splitlines() == [
        "Alice <alice@example.com>",
        committers[hosted.kind],
        "Change the site",
        str(commit.key),
        "",
    ]


def test_a_moved_file_may_be_changed_as_well(hosted: Hosted, tmp_path: Path) -> None:
    move = Change(op="move", path="go.sh", previous_path="run.sh", content="new\n", mode=EXECUTABLE)
    with hosted.connect() as host:
        host.write(commit_on(host, hosted, move), announce=nothing)
    folder = hosted.clone(tmp_path / "clone", "ai/change")
    assert (folder / "go.sh").read_text() == "new\n"
    assert not (folder / "run.sh").exists()
    assert git(folder, "ls-files", "--stage", "go.sh").startswith(EXECUTABLE)


def test_a_commit_on_a_branch_that_exists_follows_its_newest(
    hosted: Hosted, tmp_path: Path
) -> None:
    with hosted.connect() as host:
        host.write(commit_on(host, hosted, UPDATE, branch="main", is_new=False), announce=nothing)
    folder = hosted.clone(tmp_path / "clone")
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert (folder / "README.md").read_text() == "# Other\n"


def test_files_of_megabytes_are_written(hosted: Hosted, tmp_path: Path) -> None:
    large = [
        Change(op="create", path=f"large/{n}.txt", content=f"{n}ü" * 200_000) for n in range(5)
    ]
    with hosted.connect() as host:
        host.write(commit_on(host, hosted, *large), announce=nothing)
    folder = hosted.clone(tmp_path / "clone", "ai/change")
    assert {each.name for each in (folder / "large").iterdir()} == {f"{n}.txt" for n in range(5)}
    assert (folder / "large/3.txt").read_text() == "3ü" * 200_000


# --- Somebody else --------------------------------------------------------------------------------


def test_a_branch_that_has_moved_is_not_written_over(hosted: Hosted, tmp_path: Path) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE, branch="main", is_new=False)
        hosted.somebody_commits({"README.md": "# Theirs\n"})
        with pytest.raises(TipMoved):
            host.write(commit, announce=nothing)
    assert (hosted.clone(tmp_path / "clone") / "README.md").read_text() == "# Theirs\n"


def test_a_branch_that_was_created_meanwhile_is_not_written_over(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        theirs = hosted.somebody_commits({"x.md": "x\n"}, branch="ai/change")
        with pytest.raises(TipMoved):
            host.write(commit, announce=nothing)
        branch = host.get_branch(hosted.repository, "ai/change")
    assert branch is not None
    assert branch.commit == theirs


def test_who_is_stopped_by_the_announcement_has_written_nothing(hosted: Hosted) -> None:
    def stop(commit: str) -> None:
        raise RuntimeError

    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        with pytest.raises(RuntimeError):
            host.write(commit, announce=stop)
        assert host.get_branch(hosted.repository, "ai/change") is None


# --- Refusals -------------------------------------------------------------------------------------


def test_a_protected_branch_takes_nothing(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE, branch="main", is_new=False)
        hosted.change(protected=["main"])
        with pytest.raises(BranchProtected):
            host.write(commit, announce=nothing)


def test_a_renamed_repository_takes_nothing_under_its_old_name(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        path = hosted.rename("new")
        with pytest.raises(HostError):
            host.write(commit, announce=nothing)
        assert host.write(replace(commit, repository=path), announce=nothing)


def test_an_archived_repository_takes_nothing(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        hosted.change(archived=True)
        with pytest.raises(AccessRefused):
            host.write(commit, announce=nothing)


def test_a_token_that_may_only_read_writes_nothing(hosted: Hosted) -> None:
    reader = f"reader-{hosted.login}"
    scopes = {"kind": "fine_grained", "permissions": {"contents": "read"}}
    hosted.add_token(reader, **(scopes if hosted.kind == "github" else {"scopes": ["read_api"]}))
    with hosted.connect(reader) as host:
        commit = commit_on(host, hosted, UPDATE)
        with pytest.raises(AccessRefused):
            host.write(commit, announce=nothing)


@pytest.mark.parametrize("branch", ["a..b", "a b", "-x", "x.lock", "a/.b"])
def test_a_name_that_git_refuses_is_rejected(hosted: Hosted, branch: str) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE, branch=branch)
        with pytest.raises(Rejected):
            host.write(commit, announce=nothing)


def test_a_branch_cannot_lie_below_another(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE, branch="main/below")
        with pytest.raises(Rejected):
            host.write(commit, announce=nothing)


# --- Answers that are lost ------------------------------------------------------------------------

LAST = {"github": "create_ref", "gitlab": "create_commit"}


@pytest.mark.parametrize("fault", [{"status": 500}, {"drop": True}, {"html": True}])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_whose_answer_was_lost_is_found_again(
    hosted: Hosted, fault: dict[str, object], when: str
) -> None:
    announced: list[str] = []
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        hosted.fail(LAST[hosted.kind], when=when, **fault)
        with pytest.raises(HostFailed) as failed:
            host.write(commit, announce=announced.append)
        assert failed.value.may_be_done
        found = host.find(hosted.repository, "ai/change", commit=announced[0], key=commit.key)
        branch = host.get_branch(hosted.repository, "ai/change")
    assert (found is not None) == (when == "after")
    assert (branch.commit if branch is not None else None) == found


def test_a_commit_is_found_below_those_of_others(hosted: Hosted) -> None:
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE, branch="main", is_new=False)
        sha = host.write(commit, announce=nothing)
        for number in range(5):
            hosted.somebody_commits({f"{number}.md": "x\n"})
        assert host.find(hosted.repository, "main", commit="", key=commit.key) == sha
        assert host.find(hosted.repository, "main", commit=sha, key=commit.key) == sha
        assert host.find(hosted.repository, "gone", commit=sha, key=commit.key) is None


# --- Pull requests --------------------------------------------------------------------------------


def test_a_pull_request_is_opened_once(hosted: Hosted) -> None:
    with hosted.connect() as host:
        host.write(commit_on(host, hosted, UPDATE), announce=nothing)
        urls = {
            host.open_pull_request(
                hosted.repository, branch="ai/change", into="main", title="Change", text="Why"
            )
            for _ in range(2)
        }
    [url] = urls
    assert url.startswith(hosted.base_url)


def test_a_pull_request_without_changes_is_rejected(hosted: Hosted) -> None:
    with hosted.connect() as host, pytest.raises(HostError):
        host.open_pull_request(
            hosted.repository, branch="gone", into="main", title="Change", text="Why"
        )


def test_a_repository_of_somebody_else_is_not_written(hosted: Hosted) -> None:
    path = f"bob-{hosted.login}/shared"
    hosted.control.create_repository(hosted.kind, path, files=FILES, members={hosted.login: "read"})
    with hosted.connect() as host:
        commit = commit_on(host, hosted, UPDATE)
        tip = host.get_branch(path, "main")
        assert tip is not None
        with pytest.raises(AccessRefused):
            host.write(replace(commit, repository=path, parent=tip.commit), announce=nothing)
