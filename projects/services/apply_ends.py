"""The end of an order to write staged files: its result, and what is not staged any more."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from billing.services import idempotency
from common.errors import DomainError, NotFound
from events.types import USER
from githosts.registry import commit_url
from githosts.types import HostKind
from projects import events
from projects.models import Apply, AttemptFile
from projects.services.locks import lock_run
from projects.services.log import append_events
from workspaces.changes import FileFault
from workspaces.services.writing import Faults


@transaction.atomic
def end_apply(
    order_id: UUID, *, commit: str | None, faults: Faults, error: DomainError | None = None
) -> None:
    """Write the result of an order, unless it has one."""
    found = get_apply(order_id)
    run = lock_run(found.run.account, found.run_id)
    order = run.applies.select_for_update().get(pk=order_id)
    if order.ended_at is not None:
        return
    if commit is not None and not faults and order.announced_at is not None:
        outcomes = order.files  # noted before it was written
    else:
        outcomes = with_outcomes(order.files, commit, faults, error)
    order.files, order.commit = outcomes, commit or ""
    order.error = {"code": error.code, "message": error.text} if error is not None else None
    if commit is not None and run.checkout is not None:
        kind = HostKind(run.checkout.provider)
        order.commit_url = commit_url(kind, run.checkout.url, commit)
    order.ended_at = timezone.now()
    order.save()
    _take_from_the_staged(outcomes, order)
    append_events(run=run, events=[events.changes_applied(order, USER)])


@transaction.atomic
def withdraw_apply(order: Apply) -> None:
    """Forget an order that makes no sense at its repository, as if it had never been given."""
    idempotency.free(account=order.run.account, result=order.pk)
    lock_run(order.run.account, order.run_id)
    order.delete()


def get_apply(order_id: UUID) -> Apply:
    """Raises NotFound where the run was deleted meanwhile."""
    order = Apply.objects.select_related("run__account").filter(pk=order_id).first()
    if order is None:
        raise NotFound("The run has been deleted.")
    return order


def with_outcomes(
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
