"""The web process is killed at each step of an apply: what is said afterwards is what the
repository has, nothing is written twice, and a second apply writes the rest."""

import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone
from msgspec import Struct

from integrations.githosts.tests.hosted import Hosted, git
from integrations.githosts.types import HostKind
from projects.models import Apply, Run
from projects.selectors.changes import changes_of, get_changes
from projects.services.apply_settlement import settle_all_lapsed

# The fixture `worker` is not imported: pytest gives an imported fixture of package scope the scope
# of the session, and the worker would do the jobs of all later drills.
from projects.tests.conftest import NewPrincipal, http, principal  # noqa: F401
from projects.tests.reviewer import CHANGES, FILES, Reviewer
from simulator.process import RunningSimulator
from tests.follow import wait_until
from tests.personas import access_token_of
from tests.service import running_web

BRANCH = "ai/killed"


class Kill(Struct, frozen=True):
    """The web process is killed while the host is at an operation, before or after it is carried
    out, of an apply with these fields. `writes`: has this just made the commit visible? `leaves`:
    is it visible?"""

    kind: HostKind
    operation: str
    when: str
    writes: bool
    leaves: bool
    fields: dict[str, Any]

    @property
    def branch(self) -> str:
        return str(self.fields.get("branch", "main"))

    def __str__(self) -> str:
        return f"{self.kind}-{self.when}-{self.operation}-{self.branch}"


def kills(kind: HostKind, *operations: str, writes: str, **fields: Any) -> list[Kill]:
    """Before and after each operation, of which `writes` makes the commit visible."""
    moments = [(operation, when) for operation in operations for when in ("before", "after")]
    written = moments.index((writes, "after"))
    return [
        Kill(kind, operation, when, place == written, place >= written, fields)
        for place, (operation, when) in enumerate(moments)
    ]


GITHUB = ("get_repository", "get_branch", "get_commit", "create_tree", "create_commit")
GITLAB = ("get_repository", "get_branch", "create_commit")
KILLS = [
    *kills(HostKind.GITHUB, *GITHUB, "create_ref", writes="create_ref", branch=BRANCH),
    *kills(HostKind.GITHUB, "update_ref", writes="update_ref", target="default"),
    *kills(HostKind.GITLAB, *GITLAB, writes="create_commit", branch=BRANCH),
    *kills(HostKind.GITLAB, "create_commit", writes="create_commit", target="default"),
]
PULLS = [
    kill
    for kind, writes in ((HostKind.GITHUB, "create_ref"), (HostKind.GITLAB, "create_commit"))
    for kill in kills(kind, writes, "create_pull", writes=writes, branch=BRANCH, pull_request=True)
]


def apply_and_kill(reviewer: Reviewer, run: Any, kill: Kill, key: str) -> None:
    """Let a web process apply, and kill it while the host is at that operation."""
    hosted = reviewer.hosted
    before = _tip(reviewer, kill.branch)
    hosted.fail(kill.operation, when=kill.when, delay_ms=3_000)
    seen = hosted.operations().count(kill.operation)
    token = access_token_of(reviewer.alice.user)
    with running_web(reviewer.alice.simulator) as doomed:

        def send() -> None:
            with suppress(httpx.HTTPError):
                httpx.post(
                    f"{doomed.url}/api/project/sessions/{run['id']}/changes/apply",
                    json=kill.fields,
                    headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
                    timeout=30,
                )

        sending = threading.Thread(target=send)
        sending.start()
        wait_until(lambda: hosted.operations().count(kill.operation) > seen, seconds=20)
        if kill.writes:
            wait_until(lambda: _tip(reviewer, kill.branch) != before, seconds=2)
        doomed.kill()
        sending.join()


def _tip(reviewer: Reviewer, branch: str) -> str | None:
    with reviewer.hosted.connect() as host:
        found = host.get_branch(reviewer.hosted.repository, branch)
    return found.commit if found is not None else None


def settled(run: Any) -> Apply:
    """The order that was killed, when its claim has lapsed."""
    Apply.objects.filter(run=run["id"]).update(claim_until=timezone.now() - timedelta(seconds=1))
    settle_all_lapsed()
    order = Apply.objects.get(run=run["id"])
    assert order.ended_at is not None
    return order


@pytest.mark.parametrize("kill", KILLS, ids=str)
def test_what_is_said_is_what_the_repository_has(
    principal: NewPrincipal,  # noqa: F811
    simulator: RunningSimulator,
    tmp_path: Path,
    kill: Kill,
) -> None:
    reviewer = Reviewer(principal(), Hosted.create(simulator, kill.kind, files=FILES))
    run, key = reviewer.staged(**CHANGES), uuid4().hex
    apply_and_kill(reviewer, run, kill, key)

    order = settled(run)

    left = changes_of(Run.objects.get(pk=run["id"]))
    before = run["repository"]["commit"] if kill.branch == "main" else None
    tip = _tip(reviewer, kill.branch)
    assert (tip != before) == kill.leaves
    assert order.commit == (tip if kill.leaves else "")
    assert len(left) == (0 if kill.leaves else len(CHANGES))

    # The same request again is answered with what was written, or carried out.
    answer = reviewer.try_to_apply(run, key, **kill.fields)
    assert (answer.status_code, answer.json()["status"]) == (200, "applied")
    assert (answer.json()["id"] == str(order.pk)) == kill.leaves
    folder = reviewer.hosted.clone(tmp_path / "clone", kill.branch)
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert (folder / "README.md").read_text() == CHANGES["README.md"]
    assert get_changes(reviewer.alice.user, Run.objects.get(pk=run["id"]).pk).files == []


@pytest.mark.parametrize("kill", PULLS, ids=str)
def test_a_pull_request_is_opened_once_however_its_order_ends(
    principal: NewPrincipal,  # noqa: F811
    simulator: RunningSimulator,
    kill: Kill,
) -> None:
    reviewer = Reviewer(principal(), Hosted.create(simulator, kill.kind, files=FILES))
    run, key = reviewer.staged(**CHANGES), uuid4().hex
    apply_and_kill(reviewer, run, kill, key)

    order = settled(run)

    assert bool(order.commit) == bool(order.pull_request_url) == kill.leaves
    result = reviewer.try_to_apply(run, key, **kill.fields).json()
    assert (result["status"], result["error"]) == ("applied", None)
    with reviewer.hosted.connect() as host:
        url = host.open_pull_request(
            reviewer.hosted.repository, branch=BRANCH, into="main", title="Again", text=""
        )
    assert url == result["pull_request_url"]


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
    assert _tip(reviewer, BRANCH) is None
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
