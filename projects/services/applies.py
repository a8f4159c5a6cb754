"""Writes staged files to the repository: the claim, and the write.

A claim lasts two minutes, and nothing is written in its last seconds: who comes after it finds the
earlier order ended. It ends sooner with the lease of its process (`apply_settlement`). What an
order may have written is noted before the branch is changed, so that a process that dies at any
moment leaves a row from which the repository tells what happened.
"""

from collections.abc import Collection
from datetime import timedelta
from email.utils import parseaddr
from typing import Final, TypedDict, Unpack
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import User
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import DomainError, ValidationFailed
from integrations.githosts.errors import EmptyRepository
from integrations.githosts.types import GitHost, HostKind, Person, Repository
from integrations.workspaces.errors import HostUnavailable
from integrations.workspaces.models import Checkout, Workspace
from integrations.workspaces.services.checkouts import workspace_of
from integrations.workspaces.services.hosts import open_host
from integrations.workspaces.services.writing import (
    Announce,
    Outcome,
    WriteRequest,
    Written,
    write_changes,
)
from projects import events
from projects.errors import ClaimLapsed, NothingConnected, NothingStaged, RunExecuting
from projects.models import Apply, AttemptFile, Run
from projects.selectors.changes import Change, changes_of, status_of, to_write
from projects.selectors.files import proposal_of
from projects.selectors.lookup import get_run
from projects.services.apply_claims import check_no_claim, in_progress
from projects.services.apply_ends import (
    Ending,
    end_apply,
    get_apply,
    with_outcomes,
    withdraw_apply,
)
from projects.services.apply_merges import note_merges
from projects.services.apply_settlement import end_unannounced, settle_lapsed
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.pull_requests import PullRequest, open_pull_request
from projects.types import MAX_APPLIED_BYTES, MAX_APPLIED_FILES, RunStatus

CLAIM: Final = timedelta(seconds=120)
# No write begins with less left of its claim: a call takes up to 20 seconds.
_MARGIN: Final = timedelta(seconds=25)
# What Git leaves out of a name, within it and at its ends (ident.c).
_NOT_IN_A_NAME: Final = dict.fromkeys(map(ord, "<>\n"), " ")
_STRIPPED: Final = " .,:;\"\\'"
_EXECUTING = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})


class Wishes(TypedDict, total=False):
    """What an order says of itself; the rest is the run's own proposal."""

    target: str
    branch: str
    message: str
    paths: Collection[str] | None
    pull_request: bool


def apply_changes(
    *,
    user: User,
    run_id: UUID,
    request_key: RequestKey | None,
    owner_id: UUID | None = None,
    **wishes: Unpack[Wishes],
) -> tuple[Apply, bool]:
    """Write the staged files, or those at `paths`, in one commit to the repository. Returns the
    order with its result, and whether an earlier request with that key has given it. `owner_id` is
    this process, where it has a lease; without one the claim alone counts.

    Raises NotFound, RunExecuting, NothingStaged, WorkspaceGone, ApplyInProgress, ValidationFailed,
    IdempotencyMismatch, and the errors of the host: nothing was written then, unless the order is
    still open after HostUnavailable.
    """
    settle_lapsed(run=get_run(user, run_id))
    order, write = _claim(
        user=user, run_id=run_id, request_key=request_key, owner_id=owner_id, **wishes
    )
    if write is None:
        return order, True
    try:
        _carry_out(order, *write)
    finally:
        end_unannounced(order)
    return get_apply(order.pk), False


def discard(*, user: User, run_id: UUID, paths: Collection[str] | None = None) -> None:
    """Discard the staged files, or those at `paths`. Nothing is written. Raises NotFound,
    NothingStaged, ApplyInProgress, ValidationFailed, and what `settle_lapsed` raises."""
    settle_lapsed(run=get_run(user, run_id))
    with transaction.atomic():
        run = lock_run(user, run_id)
        changes = _chosen(run, paths)
        check_no_claim(run)
        ids = [file_id for change in changes for file_id in change.file_ids]
        AttemptFile.objects.filter(pk__in=ids).update(discarded_at=Now())
        append_events(run=run, events=[events.changes_discarded([each.path for each in changes])])


# --- The claim ------------------------------------------------------------------------------------


@transaction.atomic
def _claim(
    *,
    user: User,
    run_id: UUID,
    request_key: RequestKey | None,
    owner_id: UUID | None,
    target: str = "",
    branch: str = "",
    message: str = "",
    paths: Collection[str] | None = None,
    pull_request: bool = False,
) -> tuple[Apply, tuple[WriteRequest, Workspace] | None]:
    """Create an order that nobody else can give until it has ended or its claim has lapsed. Returns
    it with what is to be written, as the run has it now; None for an earlier order."""
    applied = idempotency.claim(account=user, request_key=request_key)
    run = lock_run(user, run_id)
    if applied is not None:
        earlier = run.applies.get(pk=applied)
        if earlier.ended_at is None:
            raise in_progress(earlier)
        return earlier, None
    if run.status in _EXECUTING or run.rows.active_steps():
        raise RunExecuting
    last = _written_last(run, branch) if pull_request and paths is None else None
    changes = _chosen(run, paths) if last is None else []
    if run.checkout is None:
        raise NothingConnected
    workspace = workspace_of(run.checkout)
    check_no_claim(run)
    _check_size(changes)
    proposal = proposal_of(run)
    target = target or proposal["target"]
    branch = branch or (last.branch if last is not None else proposal["branch"])
    if pull_request and target == "default":
        raise ValidationFailed.of(
            "pull_request", "A pull request needs another branch than the default one."
        )
    order = Apply.objects.create(
        run=run,
        target=target,
        branch=run.checkout.default_branch if target == "default" else branch,
        message=message or proposal["message"],
        wants_pull_request=pull_request,
        owner_id=owner_id,
        claim_until=timezone.now() + CLAIM,
        files=[
            {
                "path": each.path,
                "op": each.op,
                "runs_ci": each.runs_ci,
                "status": "pending",
                "merged": False,
                "error": None,
                "file_ids": [str(file_id) for file_id in each.file_ids],
            }
            for each in changes
        ],
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


def _written_last(run: Run, branch: str) -> Apply | None:
    """The latest order for a branch (that of this name, or "" for any), where it has written there
    and nothing is left to be written: its pull request is opened, or found."""
    orders = run.applies.filter(target="branch").exclude(ended_at=None)
    last = (orders.filter(branch=branch) if branch else orders).order_by("id").last()
    if last is None or status_of(last) == "failed":
        return None
    return last if not changes_of(run) else None


def _check_size(changes: list[Change]) -> None:
    size = sum(each.size for each in changes)
    if len(changes) > MAX_APPLIED_FILES or size > MAX_APPLIED_BYTES:
        raise ValidationFailed.of(
            "files",
            f"These are {len(changes)} files of {size:,} bytes. Name at most {MAX_APPLIED_FILES} "
            f"with at most {MAX_APPLIED_BYTES:,} bytes, and apply the others afterwards.",
        )


# --- The write ------------------------------------------------------------------------------------


def _carry_out(order: Apply, request: WriteRequest, workspace: Workspace) -> None:
    """Write, and end the order. Raises ValidationFailed, and the errors of the host."""
    try:
        with open_host(workspace) as host:
            # It may have been renamed, and its branches: no host takes writes under an old name.
            repository = host.get_repository(request.repository)
            _set_branch(order, repository)
            request = replace(request, repository=repository.name, branch=order.branch)
            written = write_changes(host, request, announce=_announce(order))
            pull_request = _pull_request(host, order, repository, written)
        ending = Ending(commit=written.commit, outcome=written.outcome, pull_request=pull_request)
        end_apply(order.pk, ending)
    except ValidationFailed:
        withdraw_apply(order)
        raise
    except HostUnavailable as error:
        may_be_written = Apply.objects.filter(pk=order.pk).exclude(announced_at=None).exists()
        if not may_be_written:
            end_apply(order.pk, Ending(error=error, frees_key=True))
        raise
    except DomainError as error:
        end_apply(order.pk, Ending(error=error, frees_key=True))
        raise


def _set_branch(order: Apply, repository: Repository) -> None:
    """The branch that is written to, as the branches are named now. Raises ValidationFailed,
    EmptyRepository."""
    if not repository.default_branch:
        raise EmptyRepository("The repository has no commit any more.")
    if order.target == "default":
        order.branch = repository.default_branch
        Apply.objects.filter(pk=order.pk).update(branch=order.branch)
    elif order.branch == repository.default_branch:
        raise ValidationFailed.of(
            "branch", f'{order.branch} is the default branch: say so with the target "default".'
        )


def _request(
    order: Apply, checkout: Checkout, workspace: Workspace, changes: list[Change]
) -> WriteRequest:
    run = order.run
    scopes = workspace.scopes
    return WriteRequest(
        repository=checkout.repository,
        branch=order.branch,
        base=checkout.commit,
        tree=checkout.entries,
        changes=to_write(order, changes),
        message=order.message,
        author=Person(_name_of(run.account), run.account.email),
        committer=Person(settings.PRODUCT_NAME, parseaddr(settings.DEFAULT_FROM_EMAIL)[1]),
        key=order.pk,
        trailers={"Project-Run": str(run.pk)},
        may_write_workflows=scopes is None
        or checkout.provider != HostKind.GITHUB
        or "workflow" in scopes,
    )


def _name_of(user: User) -> str:
    """The name in a commit, without what Git takes for its ends; else the begin of the address."""
    name = " ".join(user.name.translate(_NOT_IN_A_NAME).split()).strip(_STRIPPED)
    return name or user.email.partition("@")[0]


def _announce(order: Apply) -> Announce:
    """Note what is about to be written. Raises ClaimLapsed where there is no time left for it."""

    @transaction.atomic
    def announce(commit: str, outcome: Outcome) -> None:
        files = with_outcomes(order.files, commit, outcome)
        noted = Apply.objects.filter(
            pk=order.pk, ended_at=None, claim_until__gt=timezone.now() + _MARGIN
        ).update(commit=commit, files=files, announced_at=Now())
        if not noted:
            raise ClaimLapsed
        order.files = files
        note_merges(order, outcome)

    return announce


def _pull_request(
    host: GitHost, order: Apply, repository: Repository, written: Written
) -> PullRequest:
    """None is opened for a branch to which nothing was written from here."""
    if not order.wants_pull_request:
        return PullRequest()
    faults = written.outcome.faults.values()
    is_there = written.commit is not None or all(fault.code == "unchanged" for fault in faults)
    others = order.run.applies.exclude(pk=order.pk).exclude(commit="")
    if not is_there and not others.filter(target="branch", branch=order.branch).exists():
        return PullRequest(problem="Nothing could be written, so there is nothing to open it for.")
    return open_pull_request(host, order, repository)
