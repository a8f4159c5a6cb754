"""GET /changes, POST /changes/apply and /changes/discard: what a run would write, and writes."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from githosts.tests.hosted import Hosted, git
from githosts.types import HostKind
from projects.models import Apply
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Shape, part
from projects.tests.test_repositories import Developer
from simulator.process import RunningSimulator

FILES: dict[str, Any] = {
    "README.md": "# Seaside\n",
    "src/app.py": "print('waves')\n",
    "run.sh": {"content": "#!/bin/sh\n", "mode": "100755"},
    "windows.txt": "a\r\nb\r\n",
    "open.txt": "no end of line",
    "logo.bin": {"base64": "AAEC/w=="},
    "link": {"content": "README.md", "mode": "120000"},
}


class Reviewer(Developer):
    """A developer whose runs have staged files."""

    def staged(self, **replaced: str) -> Shape:
        """A run with these files staged, by their paths; an empty one is deleted."""
        run = self.finished(part("a", reads=[*FILES]))
        return self.stage(run, replaced)

    def stage(self, run: Shape, files: dict[str, str]) -> Shape:
        """Write them as the result of the first subtask, as its user can."""
        body = [
            {"path": path, "content": content, "op": "update" if content else "delete"}
            for path, content in files.items()
        ]
        self.alice.do(
            "POST",
            f"/sessions/{run['id']}/replace",
            subtask_id=run["subtasks"][0]["id"],
            content="Mine.",
            files=body,
        )
        with self.alice.follow(run) as follower:
            pass
        return follower.pictures[-1]

    def changes(self, run: Shape) -> Any:
        return self.alice.do("GET", f"/sessions/{run['id']}/changes")

    def try_to_apply(self, run: Shape, **body: Any) -> Any:
        return self.alice.send("POST", f"/sessions/{run['id']}/changes/apply", **body)

    def apply(self, run: Shape, **body: Any) -> Any:
        answer = self.try_to_apply(run, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def outcomes(self, result: Any) -> dict[str, Any]:
        """The status of each file, or the code of its error."""
        return {
            file["path"]: file["error"]["code"] if file["error"] else file["status"]
            for file in result["files"]
        }


@pytest.fixture(params=list(HostKind))
def reviewer(
    request: pytest.FixtureRequest, principal: NewPrincipal, simulator: RunningSimulator
) -> Reviewer:
    return Reviewer(principal(), Hosted.create(simulator, HostKind(request.param), files=FILES))


@pytest.fixture
def on_github(principal: NewPrincipal, simulator: RunningSimulator) -> Reviewer:
    return Reviewer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=FILES))


CHANGES = {
    "README.md": "# Other\n",
    "run.sh": "#!/bin/sh\necho\n",
    "new/ü.md": "x\n",
    "open.txt": "",
}


# --- Staged changes -------------------------------------------------------------------------------


def test_staged_changes_say_what_they_would_do(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    changes = on_github.changes(run)
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
        "content": "# Other\n",
        "base_sha": files["README.md"]["base_sha"],
        "size": 8,
        "subtask_id": subtask_id,
        "diff": files["README.md"]["diff"],
    }
    assert files["README.md"]["diff"].endswith("@@ -1 +1 @@\n-# Seaside\n+# Other\n")
    assert files["new/ü.md"]["base_sha"] is None
    assert files["open.txt"]["content"] == ""


def test_a_run_without_files_has_no_changes(on_github: Reviewer) -> None:
    run = on_github.finished(part("a"))
    changes = on_github.changes(run)
    assert (changes["state"], changes["files"]) == ("empty", [])
    answer = on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (400, "nothing_staged")


def test_line_ends_are_those_of_the_file_that_is_replaced(
    on_github: Reviewer, simulator: RunningSimulator
) -> None:
    """The simulator writes files of one line, without a line end."""
    run = on_github.finished(
        part("a", reads=[*FILES], writes=["windows.txt", "open.txt", "new.txt", "README.md"])
    )
    contents = {file["path"]: file["content"] for file in on_github.changes(run)["files"]}
    assert contents["windows.txt"].endswith("\r\n")
    assert not contents["open.txt"].endswith("\n")
    assert contents["new.txt"].endswith("\n")
    assert contents["README.md"].endswith("\n")


def test_what_is_no_text_is_not_written(on_github: Reviewer) -> None:
    run = on_github.finished(part("a", writes=["logo.bin", "link", "new.md"]))
    assert [file["path"] for file in on_github.changes(run)["files"]] == ["new.md"]
    subtask = run["subtasks"][0]
    assert subtask["needs_attention"]
    detail = on_github.alice.do("GET", f"/sessions/{run['id']}/subtasks/{subtask['id']}")
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
    shown = git(folder, "log", "-1", "--format=%an|%s|%(trailers)")
    assert "Write about the sea." in shown.split("|")[0]
    assert shown.split("|")[1] == "Write about the sea."
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


def test_the_event_brings_the_result_to_all_sides(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    with on_github.alice.follow(run):
        result = on_github.apply(run)
    events = on_github.alice.do("GET", f"/sessions/{run['id']}/events?after_seq={run['last_seq']}")
    assert events[0]["type"] == "changes.applied"
    assert events[0]["data"]["result"] == result


# --- Discarding -----------------------------------------------------------------------------------


def test_discarded_changes_are_gone(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    path = f"/sessions/{run['id']}/changes/discard"
    with on_github.alice.follow(run):
        some = on_github.alice.do("POST", path, files=["README.md"])
    assert [file["path"] for file in some["files"]] == ["new/ü.md", "open.txt", "run.sh"]
    rest = on_github.alice.do("POST", path)
    assert (rest["state"], rest["files"]) == ("discarded", [])
    assert on_github.alice.send("POST", path).status_code == 400
    assert on_github.hosted.operations().count("create_tree") == 0


# --- Refusals -------------------------------------------------------------------------------------


def test_a_run_at_work_is_not_applied(on_github: Reviewer) -> None:
    goal = on_github.alice.goal(part("a"), plan={"ttft_ms": 20_000})
    run = on_github.alice.start(goal=goal, **on_github.where())
    answer = on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (409, "run_executing")
    on_github.alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")


def test_a_disconnected_workspace_is_404(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    on_github.alice.do("DELETE", f"/workspaces/{on_github.workspace_id}")
    answer = on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_a_run_without_a_repository_is_404(on_github: Reviewer) -> None:
    run = on_github.alice.finished(part("a", writes=["a.md"]))
    answer = on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_somebody_elses_changes_are_not_there(on_github: Reviewer, principal: NewPrincipal) -> None:
    run = on_github.staged(**CHANGES)
    bob = principal(name="bob")
    for method, path in (("GET", ""), ("POST", "/apply"), ("POST", "/discard")):
        for run_id in (run["id"], str(uuid4())):
            answer = bob.send(method, f"/sessions/{run_id}/changes{path}")
            assert answer.status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"target": "main"}, "target"),
        ({"target": 7}, "target"),
        ({"branch": "a..b"}, "branch"),
        ({"branch": "main"}, "branch"),
        ({"branch": "x" * 300}, "branch"),
        ({"message": "x" * 3_000}, "message"),
        ({"message": 7}, "message"),
        ({"files": "README.md"}, "files"),
        ({"files": ["gone.md"]}, "files"),
        ({"files": [7]}, "files"),
        ({"files": ["x"] * 300}, "files"),
        ({"pull_request": "yes"}, "pull_request"),
        ({"target": "default", "pull_request": True}, "pull_request"),
    ],
)
def test_a_body_that_will_not_do_is_422_and_writes_nothing(
    on_github: Reviewer, body: Shape, field: str
) -> None:
    run = on_github.staged(**CHANGES)
    answer = on_github.try_to_apply(run, **body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["loc"][0] == field
    assert not Apply.objects.filter(run=run["id"]).exists()


def test_a_protected_branch_says_so_for_each_file(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.change(protected=["main"])
    result = reviewer.apply(run, target="default")
    assert (result["status"], result["commit_sha"]) == ("failed", None)
    assert set(reviewer.outcomes(result).values()) == {"protected"}
    assert len(reviewer.changes(run)["files"]) == 4


def test_an_archived_repository_refuses(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.change(archived=True)
    result = reviewer.apply(run)
    assert result["status"] == "failed"
    assert set(reviewer.outcomes(result).values()) == {"rejected"}
    assert "archived" in result["files"][0]["error"]["message"]


@pytest.mark.parametrize("kind", ["classic", "fine_grained"])
def test_workflows_need_a_token_that_may_write_them(on_github: Reviewer, kind: str) -> None:
    hosted = on_github.hosted
    token = hosted.add_token(f"{kind}-{hosted.login}", kind=kind, scopes=["repo"])
    on_github.alice.do("PATCH", f"/workspaces/{on_github.workspace_id}", token=token)
    run = on_github.staged(**CHANGES, **{".github/workflows/ci.yml": "on: push\n"})
    result = on_github.apply(run)
    assert on_github.outcomes(result)[".github/workflows/ci.yml"] == "protected"
    assert result["counts"] == {"applied": 4, "failed": 1, "skipped": 0}


def test_a_dead_token_writes_nothing(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.control.revoke_token(reviewer.hosted.token)
    answer = reviewer.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (409, "workspace_needs_reauth")
    changes = reviewer.changes(run)
    assert (changes["applied"]["status"], len(changes["files"])) == ("failed", 4)
    token = reviewer.hosted.add_token(f"new-{reviewer.hosted.login}")
    reviewer.alice.do("PATCH", f"/workspaces/{reviewer.workspace_id}", token=token)
    assert reviewer.apply(run)["status"] == "applied"


# --- Two at once, and hosts that fail -------------------------------------------------------------


def test_of_two_at_once_one_is_refused(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("get_branch", delay_ms=500, times=2)
    with ThreadPoolExecutor(2) as both:
        answers = [*both.map(lambda _: reviewer.try_to_apply(run), range(2))]
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [200, 409]
    [refused] = [answer for answer in answers if answer.status_code == 409]
    assert refused.json()["code"] == "apply_in_progress"


LAST = {"github": "create_ref", "gitlab": "create_commit"}


@pytest.mark.parametrize("fault", [{"status": 500}, {"drop": True}, {"html": True}])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_that_is_lost_changes_nothing(
    reviewer: Reviewer, tmp_path: Path, fault: Shape, when: str
) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail(LAST[reviewer.hosted.kind], when=when, **fault)
    result = reviewer.apply(run, branch="ai/x")
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    assert (result["status"], result["counts"]["applied"]) == ("applied", 4)
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert git(folder, "rev-parse", "HEAD").strip() == result["commit_sha"]


def test_a_host_that_is_gone_after_the_write_is_asked_later(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    hosted.fail(LAST[hosted.kind], when="after", drop=True)
    hosted.fail("list_commits", status=503, times=1_000)
    answer = reviewer.try_to_apply(run, branch="ai/x")
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    assert reviewer.changes(run)["state"] == "applying"
    assert reviewer.try_to_apply(run).json()["code"] == "apply_in_progress"

    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    assert reviewer.try_to_apply(run).status_code == 502
    hosted.control.stop_failing()
    answer = reviewer.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (400, "nothing_staged")
    changes = reviewer.changes(run)
    assert (changes["state"], changes["applied"]["status"]) == ("applied", "applied")


def test_a_tip_that_moves_between_all_steps_loses_nothing(
    reviewer: Reviewer, tmp_path: Path
) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    for number, operation in enumerate(("get_branch", "create_tree", "create_commit")):
        theirs = {
            "host": hosted.kind,
            "path": hosted.repository,
            "files": {f"theirs-{number}.md": {"content": "theirs\n"}},
        }
        hosted.fail(operation, commit=theirs, when="after" if number == 0 else "before")
    result = reviewer.apply(run, target="default")
    folder = hosted.clone(tmp_path / "clone")
    assert (result["status"], result["counts"]["applied"]) == ("applied", 4)
    theirs_kept = sorted(path.name for path in folder.glob("theirs-*.md"))
    assert theirs_kept == (
        ["theirs-0.md", "theirs-1.md", "theirs-2.md"]
        if hosted.kind == "github"
        else ["theirs-0.md", "theirs-2.md"]
    )
    assert (folder / "README.md").read_text() == "# Other\n"


def test_a_branch_that_never_rests_is_given_up(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    hosted = on_github.hosted
    theirs = {
        "host": hosted.kind,
        "path": hosted.repository,
        "files": {"theirs.md": {"content": "theirs\n"}},
    }
    hosted.fail("update_ref", commit=theirs, times=10)
    result = on_github.apply(run, target="default")
    hosted.control.stop_failing()
    assert result["status"] == "failed"
    assert set(on_github.outcomes(result).values()) == {"conflict"}


def test_a_repeated_request_is_answered_with_the_first_result(on_github: Reviewer) -> None:
    run = on_github.staged(**CHANGES)
    headers = {"Authorization": f"Bearer {on_github.alice.token}", "Idempotency-Key": uuid4().hex}
    path = f"/api/project/sessions/{run['id']}/changes/apply"
    answers = [
        on_github.alice.http.post(path, json={"branch": "ai/x"}, headers=headers) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
