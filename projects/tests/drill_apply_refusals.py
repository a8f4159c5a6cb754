"""POST /changes/apply: two at once, and hosts that fail."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from integrations.githosts.tests.hosted import git
from projects.models import Apply
from projects.services.apply_settlement import settle_all_lapsed
from projects.tests.principal import Shape
from projects.tests.reviewer import CHANGES, Reviewer
from tests.follow import wait_until


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


@pytest.mark.parametrize("status", [503, 429, 403])
def test_a_host_that_is_gone_after_the_write_is_asked_later(
    reviewer: Reviewer, status: int
) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    hosted.fail(LAST[hosted.kind], when="after", drop=True)
    hosted.fail("list_commits", status=status, times=1_000)
    answer = reviewer.try_to_apply(run, branch="ai/x")
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    assert reviewer.changes(run)["state"] == "applying"
    assert reviewer.try_to_apply(run).json()["code"] == "apply_in_progress"

    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    assert reviewer.try_to_apply(run).status_code == {503: 502, 429: 429, 403: 409}[status]
    assert reviewer.changes(run)["state"] == "applying"
    hosted.control.stop_failing()
    answer = reviewer.try_to_apply(run)
    assert (answer.status_code, answer.json()["code"]) == (400, "nothing_staged")
    changes = reviewer.changes(run)
    assert (changes["state"], changes["applied"]["status"]) == ("applied", "applied")


def test_a_commit_that_lands_after_it_was_looked_for_is_recognised(reviewer: Reviewer) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    hosted.fail(LAST[hosted.kind], when="after", drop=True)
    hosted.fail("list_commits", status=404, times=3)
    result = reviewer.apply(run, branch="ai/x")
    assert (result["status"], result["counts"]["applied"]) == ("applied", 4)
    with hosted.connect() as host:
        tip = host.get_branch(hosted.repository, "ai/x")
    assert tip is not None
    assert result["commit_sha"] == tip.commit


def test_a_host_that_loses_all_answers_is_asked_later(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    hosted = reviewer_on_github.hosted
    hosted.fail("create_ref", drop=True, times=100)
    answer = reviewer_on_github.try_to_apply(run, branch="ai/x")
    assert (answer.status_code, answer.json()["code"]) == (502, "git_host_unavailable")
    assert reviewer_on_github.changes(run)["state"] == "applying"
    hosted.control.stop_failing()
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    assert reviewer_on_github.apply(run, branch="ai/x")["status"] == "applied"


def test_an_order_ends_where_its_workspace_is_gone(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    hosted = reviewer_on_github.hosted
    hosted.fail("create_ref", drop=True, when="after")
    hosted.fail("list_commits", status=503, times=1_000)
    assert reviewer_on_github.try_to_apply(run, branch="ai/x").status_code == 502
    hosted.control.stop_failing()
    reviewer_on_github.alice.do("DELETE", f"/workspaces/{reviewer_on_github.workspace_id}")
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    settle_all_lapsed()
    changes = reviewer_on_github.changes(run)
    assert (changes["state"], changes["applied"]["status"]) == ("staged", "failed")
    assert "not known" in changes["applied"]["files"][0]["error"]["message"]


def test_hosts_that_cannot_be_asked_keep_no_other_order_waiting(
    reviewer_on_github: Reviewer,
) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    hosted = reviewer_on_github.hosted
    hosted.fail("create_ref", drop=True, when="after")
    hosted.fail("list_commits", status=503, times=1_000)
    assert reviewer_on_github.try_to_apply(run, branch="ai/x").status_code == 502
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    settle_all_lapsed()
    hosted.control.stop_failing()
    order = Apply.objects.get(run=run["id"])
    assert order.ended_at is None
    assert order.claim_until > timezone.now()


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


def test_a_branch_that_never_rests_is_given_up(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    hosted = reviewer_on_github.hosted
    theirs = {
        "host": hosted.kind,
        "path": hosted.repository,
        "files": {"theirs.md": {"content": "theirs\n"}},
    }
    hosted.fail("update_ref", commit=theirs, times=10)
    result = reviewer_on_github.apply(run, target="default")
    hosted.control.stop_failing()
    assert result["status"] == "failed"
    assert set(reviewer_on_github.outcomes(result).values()) == {"conflict"}


def test_a_repeated_request_is_answered_with_the_first_result(reviewer_on_github: Reviewer) -> None:
    run = reviewer_on_github.staged(**CHANGES)
    key = uuid4().hex
    answers = [reviewer_on_github.try_to_apply(run, key, branch="ai/x") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize(
    "fault", [{"status": 503}, {"status": 404}, {"status": 403}, {"rate_limited": 1}]
)
def test_a_refused_request_is_carried_out_when_it_is_sent_again(
    reviewer: Reviewer, fault: Shape
) -> None:
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("get_repository", **fault)
    key = uuid4().hex
    assert reviewer.try_to_apply(run, key, branch="ai/x").status_code >= 400
    answer = reviewer.try_to_apply(run, key, branch="ai/x")
    assert (answer.status_code, answer.json()["status"]) == (200, "applied")
    assert reviewer.try_to_apply(run, key, branch="ai/x").json() == answer.json()


def test_a_request_that_may_have_been_carried_out_is_not_carried_out_again(
    reviewer: Reviewer,
) -> None:
    run = reviewer.staged(**CHANGES)
    hosted = reviewer.hosted
    hosted.fail(LAST[hosted.kind], when="after", drop=True)
    hosted.fail("list_commits", status=503, times=1_000)
    key = uuid4().hex
    assert reviewer.try_to_apply(run, key, branch="ai/x").status_code == 502
    assert reviewer.try_to_apply(run, key, branch="ai/x").json()["code"] == "apply_in_progress"
    hosted.control.stop_failing()
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    answer = reviewer.try_to_apply(run, key, branch="ai/x")
    assert (answer.status_code, answer.json()["status"]) == (200, "applied")
    assert Apply.objects.filter(run=run["id"]).count() == 1


def test_a_run_that_is_deleted_meanwhile_is_not_found(reviewer_on_github: Reviewer) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_tree", when="after", delay_ms=1_500)
    with ThreadPoolExecutor(1) as pool:
        applying = pool.submit(reviewer.try_to_apply, run)
        wait_until(lambda: "create_tree" in reviewer.hosted.operations(), seconds=10)
        reviewer.alice.do("DELETE", f"/sessions/{run['id']}")
    assert applying.result().status_code == 404
    with reviewer.hosted.connect() as host:
        branch = f"ai/write-about-the-sea-{run['id'][-6:]}"
        assert host.get_branch(reviewer.hosted.repository, branch) is None
