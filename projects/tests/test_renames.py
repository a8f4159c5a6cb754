"""POST /changes/apply on repositories and branches that were renamed since the run read them."""

from pathlib import Path
from uuid import uuid4

from integrations.githosts.tests.hosted import git
from projects.models import Apply
from projects.tests.reviewer import CHANGES, Reviewer


def test_a_renamed_repository_is_written_to(reviewer: Reviewer, tmp_path: Path) -> None:
    run = reviewer.staged(**CHANGES)
    path = reviewer.hosted.rename("seaside")
    result = reviewer.apply(run, branch="ai/x", pull_request=True)
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    assert (result["status"], result["counts"]["applied"]) == ("applied", 4)
    assert git(folder, "rev-parse", "HEAD").strip() == result["commit_sha"]
    assert path in result["pull_request_url"]


def test_the_default_branch_is_the_one_of_today(reviewer: Reviewer, tmp_path: Path) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.change(renamed_branches={"main": "trunk"})
    result = reviewer.apply(run, target="default")
    folder = reviewer.hosted.clone(tmp_path / "clone", "trunk")
    assert (result["status"], result["branch"]) == ("applied", "trunk")
    assert git(folder, "rev-parse", "HEAD").strip() == result["commit_sha"]


def test_a_pull_request_leads_to_the_default_branch_of_today(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.change(renamed_branches={"main": "trunk"})
    result = reviewer.apply(run, branch="main", pull_request=True)
    assert (result["status"], result["error"]) == ("applied", None)
    assert result["pull_request_url"].startswith(reviewer.hosted.base_url)


def test_the_default_branch_of_today_has_to_be_named_as_such(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.change(renamed_branches={"main": "trunk"})
    key = uuid4().hex
    for _ in range(2):
        answer = reviewer.try_to_apply(run, key, branch="trunk")
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["loc"] == ["branch"]
    assert not Apply.objects.filter(run=run["id"]).exists()
    assert reviewer.changes(run)["state"] == "staged"


def test_a_branch_that_was_renamed_begins_anew(reviewer: Reviewer, tmp_path: Path) -> None:
    run = reviewer.staged(**CHANGES)
    assert reviewer.apply(run, branch="ai/x", files=["README.md"])["status"] == "applied"
    reviewer.hosted.change(renamed_branches={"ai/x": "ai/y"})
    result = reviewer.apply(run, branch="ai/x")
    folder = reviewer.hosted.clone(tmp_path / "clone", "ai/x")
    assert (result["status"], result["branch"]) == ("applied", "ai/x")
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"


def test_a_repository_without_commits_is_refused(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.add("site", replace=True, default_branch="")
    answer = reviewer.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (409, "git_host_refused")
