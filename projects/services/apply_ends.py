"""The end of an order to write staged files: its result, and what is not staged any more."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from msgspec import Struct

from billing.services import idempotency
from common.errors import DomainError, NotFound
from events.types import USER
from integrations.githosts.registry import commit_url
from integrations.githosts.types import HostKind
from integrations.workspaces.changes import FileFault
from integrations.workspaces.services.writing import Outcome
from projects import events
from projects.models import Apply, AttemptFile
from projects.services.apply_merges import end_conflicts, note_merges
from projects.services.locks import lock_run
from projects.services.log import append_events
from projects.services.pull_requests import FAILED, PullRequest


class Ending(Struct, frozen=True, kw_only=True):
    """How an order ends. `error` is the one that its request is answered with. `frees_key`: nothing
    was written, and the request is carried out when it is sent again. `unless_announced`: only if
    nothing can have been written when it ends."""

    commit: str | None = None
    outcome: Outcome = Outcome()
    error: DomainError | None = None
    pull_request: PullRequest = PullRequest()
    frees_key: bool = False
    unless_announced: bool = False


@transaction.atomic
def end_apply(order_id: UUID, ending: Ending) -> None:
    """Write the result of an order, unless it has one."""
    found = get_apply(order_id)
    account = found.run.account
    if ending.frees_key:
        idempotency.lock(account=account)
    run = lock_run(account, found.run_id)
    order = run.applies.select_for_update().get(pk=order_id)
    if order.ended_at is not None or (ending.unless_announced and order.announced_at is not None):
        return
    if ending.frees_key:
        idempotency.free(account=account, result=order.pk)
    order.files, order.commit = _outcomes(order, ending), ending.commit or ""
    if ending.outcome != Outcome():
        note_merges(order, ending.outcome)
    order.error, order.pull_request_url = _error(ending), ending.pull_request.url
    if ending.commit is not None and run.checkout is not None:
        kind = HostKind(run.checkout.provider)
        order.commit_url = commit_url(kind, run.checkout.url, ending.commit)
    order.ended_at = timezone.now()
    order.save()
    _take_from_the_staged(order.files, order)
    append_events(run=run, events=[events.changes_applied(order, USER)])


@transaction.atomic
def withdraw_apply(order: Apply) -> None:
    """Forget an order that makes no sense at its repository, as if it had never been given."""
    account = order.run.account
    idempotency.lock(account=account)
    lock_run(account, order.run_id)
    idempotency.free(account=account, result=order.pk)
    Apply.objects.filter(pk=order.pk, ended_at=None).delete()


def get_apply(order_id: UUID) -> Apply:
    """Raises NotFound where the run was deleted meanwhile."""
    order = Apply.objects.select_related("run__account").filter(pk=order_id).first()
    if order is None:
        raise NotFound("The run has been deleted.")
    return order


def _outcomes(order: Apply, ending: Ending) -> list[dict[str, Any]]:
    is_noted = ending.commit is not None and order.announced_at is not None
    if is_noted and ending.outcome == Outcome():
        noted: list[dict[str, Any]] = order.files  # before it was written
        return noted
    return with_outcomes(order.files, ending.commit, ending.outcome, ending.error)


def _error(ending: Ending) -> dict[str, str] | None:
    if ending.error is not None:
        return {"code": ending.error.code, "message": ending.error.text}
    if ending.pull_request.problem:
        return {"code": FAILED, "message": ending.pull_request.problem}
    return None


def with_outcomes(
    files: list[dict[str, Any]],
    commit: str | None,
    outcome: Outcome,
    error: DomainError | None = None,
) -> list[dict[str, Any]]:
    """The files of an order with what becomes of each."""
    return [
        {
            **file,
            "merged": outcome.is_merged(file["path"]),
            **_outcome(outcome.faults.get(file["path"]), commit, error),
        }
        for file in files
    ]


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
    """What is in the repository now is not staged any more, and its former conflicts are over. What
    failed stays."""
    done = [file for file in files if file["status"] in ("applied", "skipped")]
    rows = AttemptFile.objects.filter(pk__in=[each for file in done for each in file["file_ids"]])
    rows.update(applied_at=order.ended_at)
    for op in ("create", "update"):
        written = [file["file_ids"][0] for file in done if file["op"] == op]
        AttemptFile.objects.filter(pk__in=written).update(op=op)
    end_conflicts(order.run, [file["path"] for file in done])
