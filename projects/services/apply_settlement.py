"""Ends orders whose process has died: the repository tells what they have written."""

from datetime import timedelta
from typing import Final

import structlog
from django.utils import timezone

from common.errors import DomainError
from projects.models import Apply, Run
from projects.services.apply_ends import end_apply
from workspaces.changes import FileFault
from workspaces.errors import RepositoryNotFound, WorkspaceGone
from workspaces.hosts import open_host
from workspaces.models import Checkout
from workspaces.services.checkouts import workspace_of
from workspaces.services.writing import Faults

log = structlog.get_logger(__name__)

# A sweep asks a host again after this time.
_ASKED_AGAIN: Final = timedelta(seconds=60)
# Orders of one sweep.
_SWEPT: Final = 20


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
    end_apply(
        order.pk, commit=commit, faults=_interrupted(order, message) if commit is None else {}
    )


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


def _find(order: Apply, checkout: Checkout | None) -> str | None:
    """The commit of an order that was announced; None where it was not written."""
    if checkout is None:
        return None
    with open_host(workspace_of(checkout)) as host:
        return host.find(checkout.repository, order.branch, commit=order.commit, key=order.pk)


def _interrupted(order: Apply, message: str) -> Faults:
    fault = FileFault("rejected", message)
    return {file["path"]: fault for file in order.files}
