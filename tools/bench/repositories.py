"""Repositories at both simulated hosts: beginning a run on a large one, and writing many files,
beside the git program that does the same.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from accounts.models import User
from bench import noise, seed
from bench.report import Target, milliseconds
from events.inbox import open_inbox
from events.services import open_stream
from integrations.githosts.types import HostKind
from integrations.workspaces.digest import MAX_BYTES, digest
from integrations.workspaces.models import Checkout, Workspace
from integrations.workspaces.services.checkouts import check_out
from integrations.workspaces.services.workspaces import connect
from projects.models import Attempt, AttemptFile, Run, Subtask
from projects.services.applies import apply_changes
from projects.types import STREAM, AttemptReason, RunStatus, SubtaskStatus
from simulator import process
from simulator.githost.client import GitHostControl

FILES, CHANGED, ROUNDS = 20_000, 200, 5
_MODEL = "gpt-6-luna"
_LOGIN = "bench"
_BLOBS = ("create_blob", "get_blob")


def run() -> list[Target]:
    """Measure and print."""
    with process.running() as simulator, noise.reported("the repositories"):
        return [
            target for kind in HostKind for target in _measure(simulator.githost, HostKind(kind))
        ]


def _measure(hosts: GitHostControl, kind: HostKind) -> list[Target]:
    [account] = seed.open_accounts(1)
    user = User.objects.get(pk=account.account_id)
    # Few contents: a repository of loose blobs takes long to make.
    files = {f"src/p{n % 200}/m{n % 37}/file_{n}.py": f"print({n % 50})\n" for n in range(FILES)}
    made = hosts.create_repository(kind, f"{_LOGIN}/large", files=files, replace=True)
    token = hosts.create_token(kind, f"bench-{kind}", login=_LOGIN)
    workspace = connect(
        user=user, provider=kind, token=token, base_url=hosts.base_url(kind), name="bench"
    )
    begun = [_timed(lambda: _check_out(user, workspace)) for _ in range(ROUNDS)]
    checkout: Checkout = begun[-1][1]
    entries = [*checkout.entries.values()]
    decoded = median(_timed(lambda: json.loads(json.dumps([*files])))[0] for _ in range(ROUNDS))
    digested = median(_timed(lambda: digest(entries, "# Large"))[0] for _ in range(ROUNDS))
    changed = [*files][:CHANGED]
    staged = [_staged_run(user, workspace, changed) for _ in range(ROUNDS)]
    hosts.forget_requests()
    applied = [_apply(user, run, number) for number, run in enumerate(staged)]
    asked = [each["operation"] for each in hosts.requests()]
    requests = sum(each not in _BLOBS for each in asked) / ROUNDS
    begin, apply = median(each[0] for each in begun), median(applied)
    pushed = median(_push(made["clone_url"], token, changed, n) for n in range(ROUNDS))
    print(
        f"{kind}: a checkout of {FILES:,} files {milliseconds(begin)}, of which the digest "
        f"{milliseconds(digested)} ({len(checkout.digest.encode()):,} bytes; their names alone as "
        f"JSON {milliseconds(decoded)}); {CHANGED} files applied in {milliseconds(apply)} with "
        f"{requests:.0f} requests; add, commit and push by git {milliseconds(pushed)}",
        flush=True,
    )
    size = len(checkout.digest.encode())
    return [
        Target(
            f"digest of {FILES:,} files ({kind})", milliseconds(digested), "< 1 s", digested < 1
        ),
        Target(f"its size ({kind})", f"{size:,} bytes", "<= 30,000", size <= MAX_BYTES),
        Target(f"{CHANGED} files applied ({kind})", milliseconds(apply), "< 2 s", apply < 2),
        Target(f"requests beside blobs ({kind})", f"{requests:.0f}", "<= 12", requests <= 12),
    ]


def _timed(action: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result


def _check_out(user: User, workspace: Workspace) -> Checkout:
    return check_out(user=user, workspace_id=workspace.pk, repository=f"{_LOGIN}/large")


def _staged_run(user: User, workspace: Workspace, paths: list[str]) -> Run:
    """A finished run that has written these files."""
    checkout = _check_out(user, workspace)
    checkout.save(force_insert=True)
    run = Run.objects.create(
        account=user,
        title="Change many",
        goal="Change many files.",
        status=RunStatus.COMPLETED,
        checkout=checkout,
        planner_model=_MODEL,
        max_subtasks=1,
        max_parallel=1,
        has_plan=True,
    )
    open_stream(stream_id=run.pk, kind=STREAM, account=user)
    open_inbox(stream_id=run.pk)
    subtask = Subtask.objects.create(
        run=run,
        position=0,
        key="a",
        title="A",
        model=_MODEL,
        assigned_by="plan",
        status=SubtaskStatus.COMPLETED,
    )
    subtask.current = Attempt.objects.create(
        subtask=subtask, number=1, reason=AttemptReason.INITIAL, status=SubtaskStatus.COMPLETED
    )
    subtask.save(update_fields=["current"])
    AttemptFile.objects.bulk_create(
        AttemptFile(
            attempt=subtask.current, path=path, op="update", content=f"# {run.pk}\n" * 40, size=1600
        )
        for path in paths
    )
    return run


def _apply(user: User, run: Run, number: int) -> float:
    seconds, (order, _) = _timed(
        lambda: apply_changes(
            user=user, run_id=run.pk, request_key=None, branch=f"ai/bench-{number}"
        )
    )
    assert {file["status"] for file in order.files} == {"applied"}, order.files[:3]
    return seconds


def _push(clone_url: str, token: str, paths: list[str], number: int) -> float:
    """The seconds that the git program needs for the same change, in a clone that is there."""
    url = clone_url.replace("://", f"://{_LOGIN}:{token}@")
    with tempfile.TemporaryDirectory() as folder:
        _git(folder, "clone", "--quiet", "--depth", "1", url, "clone")
        clone = f"{folder}/clone"
        for path in paths:
            (Path(clone) / path).write_text(f"# {number}\n" * 40)
        started = time.perf_counter()
        _git(clone, "add", "--all")
        _git(clone, "-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "x")
        _git(clone, "push", "--quiet", "origin", f"HEAD:refs/heads/git-{number}")
        return time.perf_counter() - started


def _git(folder: str, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)
