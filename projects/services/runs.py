"""Runs: start, delete, pause, resume, cancel."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.selectors.features import require_feature
from billing.services import idempotency
from billing.services.groups import create_group
from billing.types import RequestKey
from common.errors import NotFound
from common.ids import current_request_id
from common.titles import first_line
from events import inbox
from events.services import delete_stream, open_stream
from events.types import USER, NewEvent, ToUser
from integrations.workspaces.models import Checkout
from integrations.workspaces.services.checkouts import check_out, delete_checkout
from media.files.selectors.uploads import get_uploads
from media.files.services.uploads import attach, release
from projects import events, user_events
from projects.errors import InvalidState
from projects.models import Run, RunUpload, Step, Subtask
from projects.selectors.candidate_models import default_planner
from projects.selectors.subtasks import is_used_up
from projects.services import steps
from projects.services.admission import check_first_step, check_limit
from projects.services.advance import advance, close, pause
from projects.services.apply_claims import check_no_claim
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.types import (
    ENDED,
    FEATURE,
    MAX_TITLE,
    STREAM,
    WITHOUT_RESULT,
    AttemptReason,
    PauseReason,
    RunStatus,
    SubtaskStatus,
)

_OPEN = (SubtaskStatus.QUEUED, SubtaskStatus.RUNNING)


def start(
    *,
    user: User,
    request_key: RequestKey | None,
    workspace_id: UUID | None = None,
    repository: str = "",
    branch: str = "",
    **options: Any,
) -> tuple[Run, bool]:
    """Begin a run: its planner is asked first. Returns the run, and whether an earlier request with
    that key has begun it. `options` are those of `_start`. With a workspace it works on the
    `repository`, as it is at the newest commit of `branch`, by default of the default branch.

    Raises PlanRequired, IdempotencyMismatch, NotFound where the run of that key is deleted,
    RunLimitReached, UploadNotFound, ProviderNotAvailable, the PaymentRequired of a plan that could
    not be paid, and with a workspace what `check_out` raises.
    """
    if workspace_id is None:
        return _start(user=user, request_key=request_key, **options)
    with transaction.atomic():
        run_id = idempotency.claim(account=user, request_key=request_key)
    if run_id is not None:
        return _begun(user, run_id), True
    require_feature(user, FEATURE)
    check_limit(user=user)
    # The host is asked outside of any transaction.
    checkout = check_out(user=user, workspace_id=workspace_id, repository=repository, branch=branch)
    return _start(user=user, request_key=request_key, checkout=checkout, **options)


@transaction.atomic
def _start(
    *,
    user: User,
    request_key: RequestKey | None,
    goal: str,
    title: str = "",
    planner_model: str | None = None,
    budget: int | None = None,
    upload_ids: Sequence[UUID] = (),
    approve_plan: bool = False,
    checkout: Checkout | None = None,
    **settings: Any,
) -> tuple[Run, bool]:
    """`settings` are those of `Run` by their names; `budget` is nano-USD."""
    run_id = idempotency.claim(account=user, request_key=request_key)
    if run_id is not None:
        return _begun(user, run_id), True
    require_feature(user, FEATURE)
    check_limit(user=user)
    if checkout is not None:
        checkout.save(force_insert=True)
    run = Run.objects.create(
        request_id=current_request_id(),
        account=user,
        title=title or first_line(goal, MAX_TITLE),
        goal=goal,
        checkout=checkout,
        planner_model=planner_model or default_planner(user),
        budget=budget,
        needs_approval=approve_plan,
        **settings,
    )
    check_first_step(run=run)
    uploads = get_uploads(user, list(dict.fromkeys(upload_ids)))
    attach(uploads=uploads)
    RunUpload.objects.bulk_create(RunUpload(run=run, upload=upload) for upload in uploads)
    create_group(group_id=run.pk, account=user, budget=budget)
    open_stream(stream_id=run.pk, kind=STREAM, account=user)
    inbox.open_inbox(stream_id=run.pk)
    append_events(run=run, events=[events.run_created(run), *advance(run)])
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=run.pk)
    return run, False


def _begun(user: User, run_id: UUID) -> Run:
    run = Run.objects.filter(account=user, pk=run_id).first()
    if run is None:
        raise NotFound("What this request began has been deleted.")
    return run


@transaction.atomic
def delete(*, user: User, run_id: UUID) -> None:
    """Delete a run with its log, whose sockets are closed. Steps that run are stopped, and billed
    for what they have produced; what was billed stays. Raises NotFound."""
    run = lock_run(user, run_id)
    steps.cancel(run=run, steps=run.rows.active_steps())
    upload_ids = list(run.uploads.values_list("upload", flat=True))
    run.delete()
    if run.checkout_id is not None:
        delete_checkout(checkout_id=run.checkout_id)
    release(upload_ids=upload_ids)
    deleted = ToUser(user.pk, [user_events.deleted(run_id)])
    delete_stream(stream_id=run_id, to_user=deleted)


# --- Control --------------------------------------------------------------------------------------


@transaction.atomic
def pause_run(*, user: User, run_id: UUID) -> None:
    """Pause a run: nothing new begins, and steps that run go on to their end. A paused run stays as
    it is. Raises NotFound, InvalidState where the run has ended."""
    run = lock_run(user, run_id)
    _check_open(run, "pause")
    if run.status != RunStatus.PAUSED:
        append_events(run=run, events=pause(run, PauseReason.USER, USER))


@transaction.atomic
def resume(*, user: User, run_id: UUID) -> None:
    """Let a paused run go on; a plan that waited is approved by that. A running run stays as it is.
    Raises NotFound, InvalidState where the run has ended, RunLimitReached, ApplyInProgress."""
    run = lock_run(user, run_id)
    _check_open(run, "resume")
    if run.status != RunStatus.PAUSED:
        return
    resumed = let_go_on(run=run)
    if run.has_plan:
        run.needs_approval = False
        run.save(update_fields=["needs_approval"])
    again = [] if run.is_finishing else _begin_again(run)
    append_events(run=run, events=[*resumed, *again, *advance(run)])


@transaction.atomic
def cancel(*, user: User, run_id: UUID) -> None:
    """Cancel a run. Steps that run are stopped, and billed for what they have produced; messages
    that no model was sent are handed back. A cancelled run stays as it is. Raises NotFound,
    InvalidState where the run has ended otherwise."""
    run = lock_run(user, run_id)
    if run.status == RunStatus.CANCELLED:
        return
    _check_open(run, "cancel")
    new_events = cancel_work(run=run, active=run.rows.active_steps(), statuses=_OPEN)
    new_events += close(run, RunStatus.CANCELLED)
    append_events(run=run, events=[*new_events, events.run_event("cancelled", USER)])


def reopen(*, run: Run, act: str) -> list[NewEvent]:
    """Let a run that has ended go on, for an act of its user; any other stays as it is. Returns the
    events.

    Raises InvalidState where the run is cancelled: you cannot `act` it. ApplyInProgress,
    RunLimitReached.
    """
    if run.status == RunStatus.CANCELLED:
        raise InvalidState.of(run.status, act)
    if run.status in ENDED:
        return let_go_on(run=run)
    check_no_claim(run)
    return []


def let_go_on(*, run: Run) -> list[NewEvent]:
    """Let a run go on that is paused or has ended. What it has made stays, and what was written to
    the repository. Returns the events. Raises ApplyInProgress, RunLimitReached."""
    check_no_claim(run)
    check_limit(user=run.account)
    has_ended = run.status in ENDED
    run.status, run.pause_reason, run.resumed_at = RunStatus.RUNNING, "", run.rows.now
    run.error, run.ended_at = None, None
    run.save(update_fields=["status", "pause_reason", "resumed_at", "error", "ended_at"])
    if has_ended:
        inbox.open_inbox(stream_id=run.pk)
        return [events.run_event("reopened", USER)]
    return [events.run_event("resumed", USER)]


def _begin_again(run: Run) -> list[NewEvent]:
    """Queue the subtasks that have no result, and that models may still do. Returns the events."""
    missing = [
        row
        for row in run.rows.subtasks.values()
        if row.status in WITHOUT_RESULT and not is_used_up(row)
    ]
    for subtask in missing:
        subtask.status, subtask.reason = SubtaskStatus.QUEUED, AttemptReason.RETRY
        subtask.error = None
    Subtask.objects.bulk_update(missing, ["status", "reason", "error"])
    return [events.subtask_event("updated", subtask, USER) for subtask in missing]


def cancel_work(
    *, run: Run, active: Sequence[Step], statuses: Collection[SubtaskStatus]
) -> list[NewEvent]:
    """Cancel steps of a run, and its subtasks of these statuses. Returns the events."""
    new_events = steps.cancel(run=run, steps=active)
    cancelled = [row for row in run.rows.subtasks.values() if row.status in statuses]
    for subtask in cancelled:
        subtask.status, subtask.is_stale = SubtaskStatus.CANCELLED, False
        new_events.append(events.subtask_event("cancelled", subtask, USER))
    Subtask.objects.bulk_update(cancelled, ["status", "is_stale"])
    return new_events


def _check_open(run: Run, act: str) -> None:
    if run.status in ENDED:
        raise InvalidState.of(run.status, act)
