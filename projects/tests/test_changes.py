"""GET /changes, POST /changes/apply and /changes/discard: what a run would write, and writes."""

from pathlib import Path

import pytest

from integrations.githosts.tests.hosted import git
from projects.tests.principal import part
from projects.tests.reviewer import CHANGES, FILES, Reviewer
from simulator.process import RunningSimulator

# --- Staged changes -------------------------------------------------------------------------------


def test_staged_changes_say_what_they_would_do(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    changes = reviewer_on_github.changes(run)
    subtask_id = run["subtasks"][0]["id"]
    files = {file["path"]: file for file in changes["files"]}
    assert changes["state"] == "staged"
    assert changes["applied"] is None
    assert changes["proposal"] == {
        "target": "branch",
        "branch": f"ai/write-about-the-sea-{run['id'][-6:]}",
        "message": "Write about the sea.",
    }
    assert {path: file["op"] for path, file in files.items()} == {
        "README.md": "update",
        "new/ü.md": "create",
        "open.txt": "delete",
        "run.sh": "update",
    }
    assert files["README.md"] == {
        "path": "README.md",
        "op": "update",
        "previous_path": None,
        "content": "# Other\n",
        "base_sha": files["README.md"]["base_sha"],
        "size": 8,
        "subtask_id": subtask_id,
        "diff": files["README.md"]["diff"],
        "runs_ci": False,
        "conflict": None,
    }
    assert files["README.md"]["diff"].endswith("@@ -1 +1 @@\n-# Seaside\n+# Other\n")
    assert files["new/ü.md"]["base_sha"] is None
    assert files["open.txt"]["content"] == ""


def test_files_that_ci_runs_are_marked_and_named_in_the_result(reviewer: Reviewer) -> None:
    run = reviewer.staged(**{".gitlab-ci.yml": "test: {}\n", "new.md": "x\n"})
    marks = {".gitlab-ci.yml": True, "new.md": False}

    staged = reviewer.changes(run)["files"]
    result = reviewer.apply(run)

    for files in (staged, result["files"], reviewer.changes(run)["applied"]["files"]):
        assert {file["path"]: file["runs_ci"] for file in files} == marks


def test_a_run_without_files_has_no_changes(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.finished(part("a"))
    changes = reviewer_on_github.changes(run)
    assert (changes["state"], changes["files"]) == ("empty", [])
    answer = reviewer_on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (400, "nothing_staged")


def test_line_ends_are_those_of_the_file_that_is_replaced(
    reviewer_on_github: Reviewer, simulator: RunningSimulator
) -> None:
    """The simulator writes files of one line, without a line end."""
    run = reviewer_on_github.finished(
        part("a", reads=[*FILES], writes=["windows.txt", "open.txt", "new.txt", "README.md"])
    )
    contents = {file["path"]: file["content"] for file in reviewer_on_github.changes(run)["files"]}
    assert contents["windows.txt"].endswith("\r\n")
    assert not contents["open.txt"].endswith("\n")
    assert contents["new.txt"].endswith("\n")
    assert contents["README.md"].endswith("\n")


def test_what_is_no_text_is_not_written(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.finished(part("a", writes=["logo.bin", "link", "new.md"]))
    assert [file["path"] for file in reviewer_on_github.changes(run)["files"]] == ["new.md"]
    subtask = run["subtasks"][0]
    assert subtask["needs_attention"]
    detail = reviewer_on_github.alice.do("GET", f"/sessions/{run['id']}/subtasks/{subtask['id']}")
    faults = {fault["path"]: fault["message"] for fault in detail["attempts"][-1]["faults"]}
    assert "no text" in faults["logo.bin"]
    assert "symbolic link" in faults["link"]


# --- Applying -------------------------------------------------------------------------------------


def test_a_clone_of_the_branch_shows_what_was_approved(reviewer: Reviewer, tmp_path: Path) -> None:
    run = reviewer.staged(**CHANGES)
    diffs = {file["path"]: file["diff"] for file in reviewer.changes(run)["files"]}

    result = reviewer.apply(run)

    branch = f"ai/write-about-the-sea-{run['id'][-6:]}"
    assert (result["status"], result["target"], result["branch"]) == ("applied", "branch", branch)
    assert result["counts"] == {"applied": 4, "failed": 0, "skipped": 0}
    folder = reviewer.hosted.clone(tmp_path / "clone", branch)
    assert git(folder, "rev-parse", "HEAD").strip() == result["commit_sha"]
    assert git(folder, "rev-parse", "HEAD~1").strip() == run["repository"]["commit"]
    for path, diff in diffs.items():
        shown = git(folder, "diff", "HEAD~1", "--", path)
        assert shown.partition("\n@@")[2] == diff.partition("\n@@")[2], path
    names = git(folder, "diff", "--name-only", "HEAD~1").splitlines()
    assert names == sorted(diffs)
    assert git(folder, "ls-files", "--stage", "run.sh").startswith("100755")
    shown = git(folder, "log", "-1", "--format=%s|%(trailers)")
    assert shown.split("|")[0] == "Write about the sea."
    assert f"Project-Run: {run['id']}" in shown
    assert result["commit_url"].endswith(result["commit_sha"])


def test_what_was_applied_is_not_staged_any_more(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    result = reviewer.apply(run)
    changes = reviewer.changes(run)
    assert (changes["state"], changes["files"]) == ("applied", [])
    assert changes["applied"] == result
    assert reviewer.try_to_apply(run).status_code == 400


def test_only_some_are_applied_where_they_are_named(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    result = reviewer.apply(run, files=["README.md"], branch="ai/one")
    assert reviewer.outcomes(result) == {"README.md": "applied"}
    changes = reviewer.changes(run)
    assert changes["state"] == "partially_applied"
    assert [file["path"] for file in changes["files"]] == ["new/ü.md", "open.txt", "run.sh"]
    rest = reviewer.apply(run, branch="ai/one", message="The rest\n\nof it")
    assert (rest["status"], rest["counts"]["applied"]) == ("applied", 3)


def test_the_default_branch_is_written_to_where_it_is_the_target(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.somebody_commits({"theirs.md": "theirs\n"})
    result = reviewer.apply(run, target="default", message="Mine")
    folder = reviewer.hosted.clone(tmp_path / "clone")
    assert (result["branch"], result["status"]) == ("main", "applied")
    assert git(folder, "log", "-1", "--format=%s").strip() == "Mine"
    assert (folder / "theirs.md").exists()
    assert (folder / "README.md").read_text() == "# Other\n"


def test_what_somebody_has_changed_is_left_out_and_stays_staged(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.somebody_commits({"README.md": "# Theirs\n", "new/ü.md": "theirs\n"})
    result = reviewer.apply(run, target="default")
    assert result["status"] == "partial"
    assert reviewer.outcomes(result) == {
        "README.md": "conflict",
        "new/ü.md": "conflict",
        "open.txt": "applied",
        "run.sh": "applied",
    }
    folder = reviewer.hosted.clone(tmp_path / "clone")
    assert (folder / "README.md").read_text() == "# Theirs\n"
    changes = reviewer.changes(run)
    assert [file["path"] for file in changes["files"]] == ["README.md", "new/ü.md"]


def test_a_branch_of_somebody_else_is_gone_on_with(reviewer: Reviewer, tmp_path: Path) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    with hosted.connect() as host:
        main = host.get_branch(hosted.repository, "main")
    assert main is not None
    theirs = {"README.md": {"content": "# Theirs\n"}, "theirs.md": {"content": "theirs\n"}}
    hosted.control.commit(
        hosted.kind, hosted.repository, branch="feature", parent=main.commit, files=theirs
    )
    result = reviewer.apply(run, branch="feature")
    assert (result["status"], result["branch"]) == ("partial", "feature")
    assert reviewer.outcomes(result) == {
        "README.md": "conflict",
        "new/ü.md": "applied",
        "open.txt": "applied",
        "run.sh": "applied",
    }
    folder = hosted.clone(tmp_path / "clone", "feature")
    assert (folder / "README.md").read_text() == "# Theirs\n"
    assert (folder / "theirs.md").exists()
    assert git(folder, "rev-list", "--count", f"{main.commit}..HEAD").strip() == "2"


def test_what_the_repository_has_already_is_skipped(reviewer: Reviewer) -> None:
    run = reviewer.staged(**{"README.md": "# Other\n"})
    reviewer.hosted.somebody_commits({"README.md": "# Other\n"})
    result = reviewer.apply(run, target="default")
    assert (result["status"], result["commit_sha"]) == ("applied", None)
    assert reviewer.outcomes(result) == {"README.md": "unchanged"}
    assert reviewer.changes(run)["files"] == []


def test_a_file_is_applied_again_after_another_attempt(reviewer: Reviewer) -> None:
    run = reviewer.staged(**{"README.md": "# Other\n", "new.md": "one\n"})
    assert reviewer.apply(run, target="default")["status"] == "applied"
    reviewer.stage(run, {"README.md": "# Third\n", "new.md": "two\n"})
    result = reviewer.apply(run, target="default")
    assert reviewer.outcomes(result) == {"README.md": "applied", "new.md": "applied"}


def test_a_file_that_was_deleted_is_created_again(reviewer: Reviewer) -> None:
    run = reviewer.staged(**{"open.txt": ""})
    assert reviewer.apply(run, target="default")["status"] == "applied"
    reviewer.stage(run, {"open.txt": "again\n"})
    [file] = reviewer.changes(run)["files"]
    assert (file["op"], file["base_sha"]) == ("create", None)
    assert file["diff"].endswith("@@ -0,0 +1 @@\n+again\n")
    result = reviewer.apply(run, target="default")
    assert reviewer.outcomes(result) == {"open.txt": "applied"}
    reviewer.stage(run, {"open.txt": "and again\n"})
    assert [each["op"] for each in reviewer.changes(run)["files"]] == ["update"]


def test_a_file_that_was_deleted_on_another_branch_is_updated(reviewer: Reviewer) -> None:
    run = reviewer.staged(**{"open.txt": ""})
    assert reviewer.apply(run, branch="ai/x")["status"] == "applied"
    reviewer.stage(run, {"open.txt": "again\n"})
    result = reviewer.apply(run, target="default")
    assert reviewer.outcomes(result) == {"open.txt": "applied"}


def test_a_pull_request_is_opened_once(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    first = reviewer.apply(run, files=["README.md"], pull_request=True)
    second = reviewer.apply(run, pull_request=True)
    assert first["pull_request_url"].startswith(reviewer.hosted.base_url)
    assert second["pull_request_url"] == first["pull_request_url"]


def test_a_pull_request_that_fails_does_not_undo_the_commit(reviewer: Reviewer) -> None:
    reviewer.hosted.fail("create_pull", status=403, message="No.")
    run = reviewer.staged(**CHANGES)
    result = reviewer.apply(run, pull_request=True)
    assert (result["status"], result["pull_request_url"]) == ("applied", None)
    assert result["error"]["code"] == "pull_request_failed"


def test_a_pull_request_that_failed_is_asked_for_again(reviewer: Reviewer) -> None:
    reviewer.hosted.fail("create_pull", status=403, message="No.", times=2)
    run = reviewer.staged(**CHANGES)
    first = reviewer.apply(run, branch="ai/x", pull_request=True)
    assert reviewer.try_to_apply(run, branch="ai/x").json()["code"] == "nothing_staged"
    second = reviewer.apply(run, pull_request=True)
    assert first["error"]["code"] == second["error"]["code"] == "pull_request_failed"
    third = reviewer.apply(run, pull_request=True)
    assert (third["status"], third["branch"], third["files"]) == ("applied", "ai/x", [])
    assert third["error"] is None
    assert third["pull_request_url"].startswith(reviewer.hosted.base_url)
    assert reviewer.changes(run)["state"] == "applied"


@pytest.mark.parametrize("fails", [False, True])
def test_the_event_brings_the_result_to_all_sides(
    reviewer_on_github: Reviewer, fails: bool
) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    if fails:
        reviewer_on_github.hosted.fail("create_pull", status=403, message="No.")
    with reviewer_on_github.alice.follow(run):
        result = reviewer_on_github.apply(run, pull_request=True)
    assert (result["pull_request_url"] is None, result["error"] is not None) == (fails, fails)
    events = reviewer_on_github.alice.do(
        "GET", f"/sessions/{run['id']}/events?after_seq={run['last_seq']}"
    )
    assert events[0]["type"] == "changes.applied"
    assert events[0]["data"]["result"] == result


# --- Discarding -----------------------------------------------------------------------------------


def test_discarded_changes_are_gone(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    path = f"/sessions/{run['id']}/changes/discard"
    with reviewer_on_github.alice.follow(run):
        some = reviewer_on_github.alice.do("POST", path, files=["README.md"])
    left = ["new/ü.md", "open.txt", "run.sh"]
    assert [file["path"] for file in some["files"]] == left
    shown = reviewer_on_github.alice.do("GET", f"/sessions/{run['id']}/files")
    assert [each["path"] for each in shown if each["origin"] == "staged"] == left
    rest = reviewer_on_github.alice.do("POST", path)
    assert (rest["state"], rest["files"]) == ("discarded", [])
    assert reviewer_on_github.alice.send("POST", path).status_code == 400
    assert reviewer_on_github.hosted.operations().count("create_tree") == 0


def test_what_was_written_stays_written_when_the_rest_is_discarded(
    reviewer_on_github: Reviewer,
) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    reviewer_on_github.apply(run, files=["README.md"])
    reviewer_on_github.hosted.fail("get_repository", status=403)
    assert reviewer_on_github.try_to_apply(run).status_code == 409
    assert reviewer_on_github.changes(run)["state"] == "partially_applied"
    rest = reviewer_on_github.alice.do("POST", f"/sessions/{run['id']}/changes/discard")
    assert (rest["state"], rest["files"]) == ("partially_applied", [])
    reviewer_on_github.stage(run, {"README.md": "# Third\n"})
    assert reviewer_on_github.apply(run)["status"] == "applied"
    assert reviewer_on_github.changes(run)["state"] == "applied"


def test_what_was_discarded_can_be_staged_again(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    reviewer_on_github.alice.do("POST", f"/sessions/{run['id']}/changes/discard")
    reviewer_on_github.stage(run, {"README.md": "# Third\n"})
    assert reviewer_on_github.changes(run)["state"] == "staged"
