"""Writes staged files to the repository: the claim, the write, and the truth about it afterwards.

A claim lasts two minutes, and nothing is written in its last seconds: who comes after it finds the
earlier order ended. What an order may have written is noted before the branch is changed, so that a
process that dies at any moment leaves a row from which the repository tells what happened.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import DomainError, NotFound, ValidationFailed
from events.types import USER
from githosts.registry import commit_url
from githosts.types import Author, GitHost, HostKind
from outbound.errors import HostError
from projects import events
from projects.errors import (
    ApplyInProgress,
    ClaimLapsed,
    NothingConnected,
    NothingStaged,
    RunExecuting,
)
from projects.models import Apply, AttemptFile, Run
from projects.selectors.changes import Change, changes_of, to_write
from projects.selectors.files import proposal_of
from projects.selectors.lookup import get_run
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.types import MAX_APPLIED_BYTES, MAX_APPLIED_FILES, RunStatus
from workspaces.changes import FileFault
from workspaces.errors import HostUnavailable, RepositoryNotFound, WorkspaceGone
from workspaces.hosts import open_host
from workspaces.models import Checkout, Workspace
from workspaces.services.checkouts import workspace_of
from workspaces.services.writing import Announce, Faults, WriteRequest, Written, write_changes

log = structlog.get_logger(__name__)

CLAIM: Final = timedelta(seconds=120)
# No write begins with less left of its claim: a call takes up to 20 seconds.
_MARGIN: Final = timedelta(seconds=25)
# A sweep asks a host again after this time.
_ASKED_AGAIN: Final = timedelta(seconds=60)
# Orders of one sweep.
_SWEPT: Final = 20
_EXECUTING = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})


def apply_changes(
    *,
    user: User,
    run_id: UUID,
    request_key: RequestKey | None,
    target: str = "",
    branch: str = "",
    message: str = "",
    paths: Collection[str] | None = None,
    pull_request: bool = False,
) -> tuple[Apply, bool]:
    """Write the staged files, or those at `paths`, in one commit to the repository. Returns the
    order with its result, and whether an earlier request with that key has given it.

    Raises NotFound, RunExecuting, NothingStaged, WorkspaceGone, ApplyInProgress, ValidationFailed,
    IdempotencyMismatch, and the errors of the host: nothing was written then, unless the order is
    still open after HostUnavailable.
    """
    settle_lapsed(run=get_run(user, run_id))
    order, write = _claim(
        user=user,
        run_id=run_id,
        request_key=request_key,
        target=target,
        branch=branch,
        message=message,
        paths=paths,
        pull_request=pull_request,
    )
    if write is None:
        return order, True
    _carry_out(order, *write)
    return _get(order.pk), False


def discard(*, user: User, run_id: UUID, paths: Collection[str] | None = None) -> None:
    """Discard the staged files, or those at `paths`. Nothing is written. Raises NotFound,
    NothingStaged, ApplyInProgress, ValidationFailed, and what `settle_lapsed` raises."""
    settle_lapsed(run=get_run(user, run_id))
    _discard(user=user, run_id=run_id, paths=paths)


@transaction.atomic
def _discard(*, user: User, run_id: UUID, paths: Collection[str] | None) -> None:
    run = lock_run(user, run_id)
    changes = _chosen(run, paths)
    _check_no_claim(run)
    ids = [file_id for change in changes for file_id in change.file_ids]
    AttemptFile.objects.filter(pk__in=ids).update(discarded_at=Now())
    append_events(run=run, events=[events.changes_discarded([each.path for each in changes])])


def settle_lapsed(*, run: Run) -> None:
    """Find out what an order has written whose process has died, and end it. The host is asked,
    unless nothing can have been written. Raises HostUnavailable, HostBusy, HostRefused,
    WorkspaceNeedsReauth."""
    order = run.applies.filter(ended_at=None, claim_until__lte=timezone.now()).first()
    if order is None:
        return
    commit, message = None, "It was interrupted before the commit was written."
    if order.announced_at is not None:
        try:
            commit = _find(order, run.checkout)
        except (WorkspaceGone, RepositoryNotFound):
            message = (
                f"It is not known whether this was written. Look at the branch {order.branch}."
            )
    _end(order.pk, commit=commit, faults=_interrupted(order, message) if commit is None else {})


def settle_all_lapsed() -> None:
    """Do so for all runs, the longest lapsed first. A host that does not answer is asked again in a
    while, after the others."""
    lapsed = Apply.objects.filter(ended_at=None, claim_until__lte=timezone.now())
    for order in lapsed.select_related("run").order_by("claim_until")[:_SWEPT]:
        try:
            settle_lapsed(run=order.run)
        except DomainError as error:
            log.info("apply.not_settled", apply_id=str(order.pk), code=error.code)
            Apply.objects.filter(pk=order.pk).update(claim_until=timezone.now() + _ASKED_AGAIN)


# --- The claim ------------------------------------------------------------------------------------


@transaction.atomic
def _claim(
    *,
    user: User,
    run_id: UUID,
    request_key: RequestKey | None,
    target: str,
    branch: str,
    message: str,
    paths: Collection[str] | None,
    pull_request: bool,
) -> tuple[Apply, tuple[WriteRequest, Workspace] | None]:
    """Create an order that nobody else can give until it has ended or its claim has lapsed. Returns
    it with what is to be written, as the run has it now; None for an earlier order."""
    applied = idempotency.claim(account=user, request_key=request_key)
    run = lock_run(user, run_id)
    if applied is not None:
        earlier = run.applies.get(pk=applied)
        if earlier.ended_at is None:
            raise ApplyInProgress
        return earlier, None
    if run.status in _EXECUTING or run.rows.active_steps():
        raise RunExecuting
    changes = _chosen(run, paths)
    if run.checkout is None:
        raise NothingConnected
    workspace = workspace_of(run.checkout)
    _check_no_claim(run)
    _check_size(changes)
    proposal = proposal_of(run)
    order = Apply.objects.create(
        run=run,
        target=target or proposal["target"],
        branch=_branch(run.checkout, target or proposal["target"], branch or proposal["branch"]),
        message=message or proposal["message"],
        wants_pull_request=pull_request,
        claim_until=timezone.now() + CLAIM,
        files=[
            {
                "path": each.path,
                "op": each.op,
                "status": "pending",
                "error": None,
                "file_ids": [str(file_id) for file_id in each.file_ids],
            }
            for each in changes
        ],
    )
    if pull_request and order.branch == run.checkout.default_branch:
        raise ValidationFailed.of(
            "pull_request", "A pull request needs another branch than the default one."
        )
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=order.pk)
    return order, (_request(order, run.checkout, workspace, changes), workspace)


def _chosen(run: Run, paths: Collection[str] | None) -> list[Change]:
    """The staged changes, or those at `paths`. Raises NothingStaged, ValidationFailed."""
    changes = changes_of(run)
    if not changes:
        raise NothingStaged
    if paths is None:
        return changes
    missing = set(paths) - {each.path for each in changes}
    if missing:
        raise ValidationFailed.of("files", f"There is no staged file {min(missing)}.")
    return [each for each in changes if each.path in paths]


def _check_no_claim(run: Run) -> None:
    if run.applies.filter(ended_at=None).exists():
        raise ApplyInProgress


def _check_size(changes: list[Change]) -> None:
    size = sum(each.size for each in changes)
    if len(changes) > MAX_APPLIED_FILES or size > MAX_APPLIED_BYTES:
        raise ValidationFailed.of(
            "files",
            f"These are {len(changes)} files of {size:,} bytes. Name at most {MAX_APPLIED_FILES} "
            f"with at most {MAX_APPLIED_BYTES:,} bytes, and apply the others afterwards.",
        )


def _branch(checkout: Checkout, target: str, branch: str) -> str:
    """The branch that is written to. Raises ValidationFailed."""
    if target == "default":
        return checkout.default_branch
    if branch == checkout.default_branch:
        raise ValidationFailed.of(
            "branch", f'{branch} is the default branch: say so with the target "default".'
        )
    return branch


# --- The write ------------------------------------------------------------------------------------


def _carry_out(order: Apply, request: WriteRequest, workspace: Workspace) -> None:
    """Write, and end the order. Raises the errors of the host."""
    try:
        with open_host(workspace) as host:
            written = write_changes(host, request, announce=_announce(order))
            _end(order.pk, commit=written.commit, faults=written.faults)
            if order.wants_pull_request:
                _open_pull_request(host, order, written)
    except HostUnavailable as error:
        if not _may_be_written(order):
            _end(order.pk, commit=None, faults={}, error=error)
        raise
    except DomainError as error:
        _end(order.pk, commit=None, faults={}, error=error)
        raise


def _request(
    order: Apply, checkout: Checkout, workspace: Workspace, changes: list[Change]
) -> WriteRequest:
    run = order.run
    host = urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost"
    scopes = workspace.scopes
    return WriteRequest(
        repository=checkout.repository,
        branch=order.branch,
        base=checkout.commit,
        tree=checkout.entries,
        changes=to_write(run, changes),
        message=order.message,
        author=Author(f"{settings.PRODUCT_NAME}: {run.title}"[:100], f"{run.pk}@{host}"),
        key=order.pk,
        trailers={"Project-Run": str(run.pk)},
        may_write_workflows=scopes is None
        or checkout.provider != HostKind.GITHUB
        or "workflow" in scopes,
    )


def _announce(order: Apply) -> Announce:
    """Note what is about to be written. Raises ClaimLapsed where there is no time left for it."""

    def announce(commit: str, faults: Faults) -> None:
        files = _with_outcomes(order.files, commit, faults)
        noted = Apply.objects.filter(
            pk=order.pk, ended_at=None, claim_until__gt=timezone.now() + _MARGIN
        ).update(commit=commit, files=files, announced_at=Now())
        if not noted:
            raise ClaimLapsed

    return announce


def _may_be_written(order: Apply) -> bool:
    return Apply.objects.filter(pk=order.pk).exclude(announced_at=None).exists()


def _open_pull_request(host: GitHost, order: Apply, written: Written) -> None:
    """Open one, or find the one that is open. That it fails changes nothing of the commit."""
    checkout = order.run.checkout
    assert checkout is not None  # noqa: S101 - the claim has checked it
    if written.commit is None and any(
        fault.code != "unchanged" for fault in written.faults.values()
    ):
        return
    try:
        url = host.open_pull_request(
            checkout.repository,
            branch=order.branch,
            into=checkout.default_branch,
            title=order.run.title,
            text=order.message,
        )
    except HostError as error:
        log.warning("apply.no_pull_request", apply_id=str(order.pk))
        failure = {"code": "pull_request_failed", "message": str(error)}
        Apply.objects.filter(pk=order.pk).update(error=failure)
    else:
        Apply.objects.filter(pk=order.pk).update(pull_request_url=url)


# --- The end --------------------------------------------------------------------------------------


def _find(order: Apply, checkout: Checkout | None) -> str | None:
    """The commit of an order that was announced; None where it was not written."""
    if checkout is None:
        return None
    with open_host(workspace_of(checkout)) as host:
        return host.find(checkout.repository, order.branch, commit=order.commit, key=order.pk)


def _interrupted(order: Apply, message: str) -> Faults:
    fault = FileFault("rejected", message)
    return {file["path"]: fault for file in order.files}


@transaction.atomic
def _end(
    order_id: UUID, *, commit: str | None, faults: Faults, error: DomainError | None = None
) -> None:
    """Write the result of an order, unless it has one."""
    found = _get(order_id)
    run = lock_run(found.run.account, found.run_id)
    order = run.applies.select_for_update().get(pk=order_id)
    if order.ended_at is not None:
        return
    if commit is not None and not faults and order.announced_at is not None:
        outcomes = order.files  # noted before it was written
    else:
        outcomes = _with_outcomes(order.files, commit, faults, error)
    order.files, order.commit = outcomes, commit or ""
    order.error = {"code": error.code, "message": error.text} if error is not None else None
    if commit is not None and run.checkout is not None:
        kind = HostKind(run.checkout.provider)
        order.commit_url = commit_url(kind, run.checkout.url, commit)
    order.ended_at = timezone.now()
    order.save()
    _take_from_the_staged(outcomes, order)
    append_events(run=run, events=[events.changes_applied(order, USER)])


def _get(order_id: UUID) -> Apply:
    """Raises NotFound where the run was deleted meanwhile."""
    order = Apply.objects.select_related("run__account").filter(pk=order_id).first()
    if order is None:
        raise NotFound("The run has been deleted.")
    return order


def _with_outcomes(
    files: list[dict[str, Any]],
    commit: str | None,
    faults: Faults,
    error: DomainError | None = None,
) -> list[dict[str, Any]]:
    """The files of an order with what becomes of each."""
    return [{**file, **_outcome(faults.get(file["path"]), commit, error)} for file in files]


def _outcome(
    fault: FileFault | None, commit: str | None, error: DomainError | None
) -> Mapping[str, Any]:
    if fault is not None:
        status = "skipped" if fault.code == "unchanged" else "failed"
        return {"status": status, "error": {"code": fault.code, "message": fault.message}}
    if error is not None:
        return {"status": "failed", "error": {"code": "rejected", "message": error.text}}
    return {"status": "applied" if commit is not None else "failed", "error": None}


def _take_from_the_staged(files: list[dict[str, Any]], order: Apply) -> None:
    """What is in the repository now is not staged any more. What failed stays."""
    ids = [
        file_id
        for file in files
        if file["status"] in ("applied", "skipped")
        for file_id in file["file_ids"]
    ]
    AttemptFile.objects.filter(pk__in=ids).update(applied_at=order.ended_at)
