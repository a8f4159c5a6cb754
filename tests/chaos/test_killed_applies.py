"""The web process is killed at each step of an apply: what is said afterwards is what the
repository has, nothing is written twice, and a second apply writes the rest."""

import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from githosts.tests.hosted import Hosted, git
from githosts.types import Branch, HostKind
from projects.models import Apply, Run
from projects.selectors.changes import changes_of, get_changes
from projects.services.apply_settlement import settle_all_lapsed
from projects.tests.conftest import NewPrincipal, http, principal, worker  # noqa: F401
from projects.tests.reviewer import CHANGES, FILES, Reviewer
from simulator.process import RunningSimulator
from tests.follow import wait_until
from tests.personas import access_token_of
from tests.service import running_web

STEPS = {
    HostKind.GITHUB: (
        *("get_repository", "get_branch"),
        *("get_commit", "create_tree", "create_commit", "create_ref"),
    ),
    HostKind.GITLAB: ("get_repository", "get_branch", "create_commit"),
}
KILLS = [
    (kind, operation, when)
    for kind, operations in STEPS.items()
    for operation in operations
    for when in ("before", "after")
]
BRANCH = "ai/killed"


def apply_and_kill(reviewer: Reviewer, run: Any, operation: str, when: str) -> None:
    """Let a web process apply, and kill it while the host is at that operation."""
    hosted = reviewer.hosted
    hosted.fail(operation, when=when, delay_ms=3_000)
    seen = hosted.operations().count(operation)
    token = access_token_of(reviewer.alice.user)
    with running_web(reviewer.alice.simulator) as doomed:

        def send() -> None:
            with suppress(httpx.HTTPError):
                httpx.post(
                    f"{doomed.url}/api/project/sessions/{run['id']}/changes/apply",
                    json={"branch": BRANCH},
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=30,
                )

        sending = threading.Thread(target=send)
        sending.start()
        wait_until(lambda: hosted.operations().count(operation) > seen, seconds=20)
        if (operation, when) == (STEPS[hosted.kind][-1], "after"):
            wait_until(lambda: _branch(reviewer) is not None, seconds=2)
        doomed.kill()
        sending.join()


def _branch(reviewer: Reviewer) -> Branch | None:
    with reviewer.hosted.connect() as host:
        return host.get_branch(reviewer.hosted.repository, BRANCH)


@pytest.mark.parametrize(("kind", "operation", "when"), KILLS)
def test_what_is_said_is_what_the_repository_has(
    principal: NewPrincipal,  # noqa: F811
    simulator: RunningSimulator,
    tmp_path: Path,
    kind: HostKind,
    operation: str,
    when: str,
) -> None:
    reviewer = Reviewer(principal(), Hosted.create(simulator, kind, files=FILES))
    run = reviewer.staged(**CHANGES)
    apply_and_kill(reviewer, run, operation, when)

    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    settle_all_lapsed()

    order = Apply.objects.get(run=run["id"])
    left = changes_of(Run.objects.get(pk=run["id"]))
    branch = _branch(reviewer)
    is_written = operation == STEPS[kind][-1] and when == "after"
    assert (branch is not None) == is_written
    assert order.ended_at is not None
    assert order.commit == (branch.commit if branch is not None else "")
    assert len(left) == (0 if is_written else len(CHANGES))

    if not is_written:
        assert reviewer.apply(run, branch=BRANCH)["status"] == "applied"
    folder = reviewer.hosted.clone(tmp_path / "clone", BRANCH)
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert (folder / "README.md").read_text() == CHANGES["README.md"]
    assert get_changes(reviewer.alice.user, Run.objects.get(pk=run["id"]).pk).files == []


def test_a_claim_that_lapses_in_mid_write_writes_nothing(
    principal: NewPrincipal,  # noqa: F811
    simulator: RunningSimulator,
) -> None:
    """The last moment to write is some time before the claim ends."""
    reviewer = Reviewer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=FILES))
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_tree", when="after", delay_ms=2_000)
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(reviewer.try_to_apply(run, branch=BRANCH)))
    thread.start()
    wait_until(lambda: "create_tree" in reviewer.hosted.operations(), seconds=20)
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() + timedelta(seconds=20))
    thread.join()
    [answer] = done
    assert (answer.status_code, answer.json()["code"]) == (409, "apply_too_slow")
    assert _branch(reviewer) is None
    assert len(reviewer.changes(run)["files"]) == len(CHANGES)


def test_who_was_overtaken_cannot_write_any_more(
    principal: NewPrincipal,  # noqa: F811
    simulator: RunningSimulator,
    tmp_path: Path,
) -> None:
    reviewer = Reviewer(principal(), Hosted.create(simulator, HostKind.GITHUB, files=FILES))
    run = reviewer.staged(**CHANGES)
    reviewer.hosted.fail("create_tree", when="after", delay_ms=3_000)
    done: list[Any] = []
    thread = threading.Thread(
        target=lambda: done.append(reviewer.try_to_apply(run, branch=BRANCH, message="Slow"))
    )
    thread.start()
    wait_until(lambda: "create_tree" in reviewer.hosted.operations(), seconds=20)
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    assert reviewer.apply(run, branch=BRANCH, message="Quick")["status"] == "applied"
    thread.join()
    assert done[0].status_code in (200, 409)
    folder = reviewer.hosted.clone(tmp_path / "clone", BRANCH)
    assert git(folder, "log", "--format=%s").splitlines() == ["Quick", "First commit"]
    statuses = Apply.objects.filter(run=run["id"]).order_by("id")
    assert [bool(order.commit) for order in statuses] == [False, True]
