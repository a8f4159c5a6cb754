"""POST /changes/apply: how long an order keeps others from applying."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from integrations.githosts.tests.hosted import git
from projects.models import Apply, Run
from projects.services.apply_ends import Ending, end_apply
from projects.services.apply_settlement import settle_all_lapsed
from projects.tests.principal import BALANCE_ONLY
from projects.tests.reviewer import CHANGES, Reviewer
from projects.types import RunStatus
from tests.follow import wait_until
from work.leases.models import Lease

BRANCH = "ai/x"


def left_open(reviewer: Reviewer, run: Any, *, announced: bool) -> Apply:
    """An order that its process has left just now, before or after it was announced."""
    with left_unwritten(reviewer):
        assert reviewer.try_to_apply(run, branch=BRANCH).status_code == 502
    order = Apply.objects.get(run=run["id"])
    assert order.ended_at is None
    if not announced:
        Apply.objects.filter(pk=order.pk).update(announced_at=None, commit="")
    return order


@contextmanager
def left_unwritten(reviewer: Reviewer) -> Iterator[None]:
    """The host loses each request that would make a commit visible."""
    reviewer.hosted.fail("create_ref", drop=True, times=100)
    yield
    reviewer.hosted.control.stop_failing()


def end_lease(order: Apply, *, seconds_ago: int = 20) -> None:
    """The process of an order has died: others live."""
    ended = timezone.now() - timedelta(seconds=seconds_ago)
    owner = Lease.objects.create(
        owner_id=uuid4(), kind="web", expires_at=ended, doubted_at=ended
    ).owner_id
    Apply.objects.filter(pk=order.pk).update(owner_id=owner)


def write_late(reviewer: Reviewer, order: Apply) -> None:
    """What the process of an order was about to do: make the commit visible."""
    hosted = reviewer.hosted
    httpx.post(
        f"{hosted.base_url}/api/v3/repos/{hosted.repository}/git/refs",
        json={"ref": f"refs/heads/{order.branch}", "sha": order.commit},
        headers={"Authorization": f"Bearer {hosted.token}"},
    ).raise_for_status()


def test_it_is_owned_by_a_process_that_lives(reviewer_on_github: Reviewer) -> None:
    reviewer = reviewer_on_github
    order = left_open(reviewer, reviewer.staged(**CHANGES), announced=False)
    assert order.owner_id is not None
    lease = Lease.objects.get(owner_id=order.owner_id)
    assert lease.kind == "web"
    assert lease.expires_at is not None
    assert lease.expires_at > timezone.now()


def test_what_is_being_written_is_not_changed(reviewer_on_github: Reviewer) -> None:
    reviewer, alice = reviewer_on_github, reviewer_on_github.alice
    run = reviewer.staged(**CHANGES)
    order = left_open(reviewer, run, announced=True)
    about = {"subtask_id": run["subtasks"][0]["id"]}
    Run.objects.filter(pk=run["id"]).update(status=RunStatus.PAUSED, pause_reason="user")
    acts: list[tuple[str, dict[str, Any]]] = [
        ("replace", {**about, "content": "Mine."}),
        ("reassign", {**about, "model_key": BALANCE_ONLY}),
        ("control", {"action": "resume"}),
        ("changes/discard", {}),
        ("changes/apply", {}),
    ]
    for path, body in acts:
        answer = alice.send("POST", f"/sessions/{run['id']}/{path}", **body)
        assert (answer.status_code, answer.json()["code"]) == (409, "apply_in_progress"), path
        assert int(answer.headers["retry-after"]) > 0
    Run.objects.filter(pk=run["id"]).update(status=RunStatus.COMPLETED, pause_reason="")

    write_late(reviewer, order)
    Apply.objects.filter(pk=order.pk).update(claim_until=timezone.now())
    settle_all_lapsed()
    reviewer.stage(run, {"README.md": "# Third\n"})
    assert [file["path"] for file in reviewer.changes(run)["files"]] == ["README.md"]


def test_another_order_is_taken_when_the_lease_of_a_dead_process_has_ended(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    order = left_open(reviewer, run, announced=False)
    assert reviewer.try_to_apply(run, branch=BRANCH).status_code == 409
    end_lease(order)
    result = reviewer.apply(run, branch=BRANCH)
    assert (result["status"], result["id"] != str(order.pk)) == ("applied", True)
    order.refresh_from_db()
    assert order.ended_at is not None
    assert "interrupted" in order.files[0]["error"]["message"]


def test_the_sweep_ends_it_as_soon_as_the_process_is_given_up(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    order = left_open(reviewer, reviewer.staged(**CHANGES), announced=False)
    settle_all_lapsed()
    order.refresh_from_db()
    assert order.ended_at is None
    end_lease(order)
    settle_all_lapsed()
    order.refresh_from_db()
    assert order.ended_at is not None


def test_what_a_dead_process_has_announced_stays_claimed_until_the_host_has_it(
    reviewer_on_github: Reviewer,
) -> None:
    """The process may be frozen on its way to the host, and go on."""
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    order = left_open(reviewer, run, announced=True)
    end_lease(order)
    refused = reviewer.try_to_apply(run, branch=BRANCH)
    assert (refused.status_code, refused.json()["code"]) == (409, "apply_in_progress")
    assert 60 < int(refused.headers["Retry-After"]) <= 120
    reviewer.hosted.fail("get_repository", status=503, times=100)
    assert reviewer.try_to_apply(run, branch=BRANCH).status_code == 409
    reviewer.hosted.control.stop_failing()
    write_late(reviewer, order)
    settle_all_lapsed()
    order.refresh_from_db()
    assert order.ended_at is not None
    assert [file["status"] for file in order.files] == ["applied"] * len(CHANGES)
    assert reviewer.changes(run)["files"] == []


def test_a_host_that_is_away_is_asked_again_for_a_dead_process_in_a_while(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    order = left_open(reviewer, reviewer.staged(**CHANGES), announced=True)
    end_lease(order)
    reviewer.hosted.fail("get_repository", status=503, times=100)
    before = len(reviewer.hosted.operations())
    settle_all_lapsed()
    asked = len(reviewer.hosted.operations())
    assert asked > before
    settle_all_lapsed()
    assert len(reviewer.hosted.operations()) == asked
    reviewer.hosted.control.stop_failing()
    Apply.objects.filter(pk=order.pk).update(claim_until=timezone.now())
    settle_all_lapsed()
    order.refresh_from_db()
    assert order.ended_at is not None


def test_what_is_announced_after_it_was_found_lapsed_is_not_ended(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    order = left_open(reviewer, reviewer.staged(**CHANGES), announced=True)
    end_apply(order.pk, Ending(unless_announced=True))
    order.refresh_from_db()
    assert order.ended_at is None


def test_a_process_that_comes_back_announces_nothing_of_what_was_taken_from_it(
    reviewer_on_github: Reviewer, tmp_path: Path
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_tree", when="after", delay_ms=2_000)
    done: list[Any] = []
    slow = threading.Thread(target=lambda: done.append(reviewer.try_to_apply(run, branch=BRANCH)))
    slow.start()
    wait_until(lambda: "create_tree" in reviewer.hosted.operations(), seconds=20)
    end_lease(Apply.objects.get(run=run["id"]))
    assert reviewer.apply(run, branch=BRANCH, message="Quick")["status"] == "applied"
    slow.join()
    assert (done[0].status_code, done[0].json()["code"]) == (409, "apply_too_slow")
    folder = reviewer.hosted.clone(tmp_path / "clone", BRANCH)
    assert git(folder, "log", "--format=%s").splitlines() == ["Quick", "First commit"]


def test_a_request_that_fails_for_a_reason_of_ours_leaves_no_claim(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    with broken_announcements():
        assert reviewer.try_to_apply(run, branch=BRANCH).status_code == 500
    order = Apply.objects.get(run=run["id"])
    assert order.ended_at is not None
    assert reviewer.apply(run, branch=BRANCH)["status"] == "applied"


@contextmanager
def broken_announcements() -> Iterator[None]:
    """The database refuses to note what is about to be written."""
    table = "ALTER TABLE projects_apply"
    with connection.cursor() as cursor:
        cursor.execute(f"{table} ADD CONSTRAINT broken CHECK (announced_at IS NULL) NOT VALID")
        try:
            yield
        finally:
            cursor.execute(f"{table} DROP CONSTRAINT broken")


def test_a_claim_lasts_for_120_seconds_and_then_another_order_is_taken(
    reviewer_on_github: Reviewer,
) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_ref", drop=True, times=100)
    assert reviewer.try_to_apply(run, branch="ai/x").status_code == 502
    reviewer.hosted.control.stop_failing()
    order = Apply.objects.get(run=run["id"])
    lasts = (order.claim_until - order.created_at).total_seconds()
    assert lasts == pytest.approx(120, abs=2)

    def let_pass(seconds: float) -> None:
        earlier = F("claim_until") - timedelta(seconds=seconds)
        Apply.objects.filter(pk=order.pk).update(claim_until=earlier)

    let_pass(60)
    refused = reviewer.try_to_apply(run, branch="ai/x")
    assert (refused.status_code, refused.json()["code"]) == (409, "apply_in_progress")
    assert 30 < int(refused.headers["Retry-After"]) <= 60
    let_pass(60)
    result = reviewer.apply(run, branch="ai/x")
    assert (result["status"], result["id"] != str(order.pk)) == ("applied", True)
