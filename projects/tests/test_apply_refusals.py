"""POST /changes/apply: what is refused."""

from uuid import uuid4

import pytest

from projects.models import Apply
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Shape, part
from projects.tests.reviewer import CHANGES, Reviewer


def test_a_run_at_work_is_not_applied(reviewer_on_github: Reviewer) -> None:
    goal = reviewer_on_github.alice.goal(part("a"), plan={"ttft_ms": 20_000})
    run = reviewer_on_github.alice.start(goal=goal, **reviewer_on_github.where())
    answer = reviewer_on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (409, "run_executing")
    reviewer_on_github.alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")


def test_a_disconnected_workspace_is_404(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    reviewer_on_github.alice.do("DELETE", f"/workspaces/{reviewer_on_github.workspace_id}")
    answer = reviewer_on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_a_run_without_a_repository_is_404(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.alice.finished(part("a", writes=["a.md"]))
    answer = reviewer_on_github.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")


def test_somebody_elses_changes_are_not_there(
    reviewer_on_github: Reviewer, principal: NewPrincipal
) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    bob = principal(name="bob")
    for method, path in (("GET", ""), ("POST", "/apply"), ("POST", "/discard")):
        for run_id in (run["id"], str(uuid4())):
            answer = bob.send(method, f"/sessions/{run_id}/changes{path}")
            assert answer.status_code == 404


def test_a_body_that_will_not_do_is_422_and_writes_nothing(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    bodies: list[tuple[Shape, str]] = [
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
        ({"files": []}, "files"),
        ({"pull_request": "yes"}, "pull_request"),
        ({"target": "default", "pull_request": True}, "pull_request"),
    ]
    for body, field in bodies:
        answer = reviewer_on_github.try_to_apply(run, **body)
        assert answer.status_code == 422, body
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
def test_workflows_need_a_token_that_may_write_them(
    reviewer_on_github: Reviewer, kind: str
) -> None:
    hosted = reviewer_on_github.hosted
    token = hosted.add_token(f"{kind}-{hosted.login}", kind=kind, scopes=["repo"])
    reviewer_on_github.alice.do(
        "PATCH", f"/workspaces/{reviewer_on_github.workspace_id}", token=token
    )
    run = reviewer_on_github.staged(**CHANGES, **{".github/workflows/ci.yml": "on: push\n"})
    result = reviewer_on_github.apply(run)
    assert reviewer_on_github.outcomes(result)[".github/workflows/ci.yml"] == "protected"
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
