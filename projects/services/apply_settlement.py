"""Ends orders whose process has died: the repository tells what they have written."""

from datetime import timedelta
from typing import Final

import structlog
from django.db.models import Func, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone
from msgspec.structs import replace

from common.errors import DomainError
from integrations.workspaces.changes import FileFault
from integrations.workspaces.errors import RepositoryNotFound, WorkspaceGone
from integrations.workspaces.models import Checkout
from integrations.workspaces.services.checkouts import workspace_of
from integrations.workspaces.services.hosts import open_host
from integrations.workspaces.services.writing import Outcome
from projects.models import Apply, Run
from projects.services.apply_ends import Ending, end_apply
from projects.services.pull_requests import open_pull_request
from work.leases.selectors import has_lapsed, is_given_up

log = structlog.get_logger(__name__)

# A sweep asks a host again after this time.
_ASKED_AGAIN: Final = timedelta(seconds=60)
# Orders of one sweep.
_SWEPT: Final = 20


def settle_lapsed(*, run: Run) -> None:
    """Find out what an order has written whose process has died, and end it. The host is asked,
    unless nothing can have been written. Raises HostUnavailable, HostBusy, HostRefused,
    WorkspaceNeedsReauth where its claim has ended."""
    order = run.applies.filter(_is_lapsed(has_lapsed("owner_id"))).first()
    if order is None:
        return
    try:
        _settle(order, run)
    except DomainError:
        if _is_over(order):
            raise


def settle_all_lapsed() -> None:
    """Do so for all runs, the longest lapsed first. A host that does not answer is asked again in a
    while, after the others. The order belongs to nobody then, as a dead process has it asked for at
    once."""
    lapsed = Apply.objects.filter(_is_lapsed(is_given_up("owner_id")))
    for order in lapsed.select_related("run").order_by("claim_until")[:_SWEPT]:
        try:
            _settle(order, order.run)
        except DomainError as error:
            log.info("apply.not_settled", apply_id=str(order.pk), code=error.code)
            again = Greatest("claim_until", Value(timezone.now() + _ASKED_AGAIN))
            Apply.objects.filter(pk=order.pk).update(claim_until=again, owner_id=None)


def end_unannounced(order: Apply) -> None:
    """End an order that its process does not carry out any more, unless it has ended or may have
    been written."""
    if Apply.objects.filter(pk=order.pk, ended_at=None, announced_at=None).exists():
        end_apply(order.pk, _unannounced(order))


def _is_lapsed(owner_has_lapsed: Func) -> Q:
    """Orders whose claim, or whose process's lease, has ended."""
    over = Q(claim_until__lte=timezone.now())
    dead = Q(owner_id__isnull=False) & Q(owner_has_lapsed)
    return Q(ended_at=None) & (over | dead)


def _is_over(order: Apply) -> bool:
    return order.claim_until <= timezone.now()


def _settle(order: Apply, run: Run) -> None:
    """End a lapsed order. What was announced may become visible until its claim ends: its process
    may be frozen, and go on. Before, it is ended only if the host has the commit."""
    if order.announced_at is None:
        end_apply(order.pk, _unannounced(order))
        return
    ending = _unwritten(order)
    if run.checkout is not None:
        try:
            ending = _find(order, run.checkout)
        except (WorkspaceGone, RepositoryNotFound):
            ending = _unknown(order)
    if ending.commit is not None or _is_over(order):
        end_apply(order.pk, ending)


def _find(order: Apply, checkout: Checkout) -> Ending:
    """The end of an order that was announced. A pull request that it wants is asked for again:
    there is one at most."""
    with open_host(workspace_of(checkout)) as host:
        repository = host.get_repository(checkout.repository)
        commit = host.find(repository.name, order.branch, commit=order.commit, key=order.pk)
        if commit is None:
            return _unwritten(order)
        if not order.wants_pull_request:
            return Ending(commit=commit)
        return Ending(commit=commit, pull_request=open_pull_request(host, order, repository))


def _unwritten(order: Apply) -> Ending:
    message = "It was interrupted before the commit was written."
    return Ending(outcome=_left_out(order, message), frees_key=True)


def _unannounced(order: Apply) -> Ending:
    """Its process may live, and announce it before this is written."""
    return replace(_unwritten(order), unless_announced=True)


def _unknown(order: Apply) -> Ending:
    message = f"It is not known whether this was written. Look at the branch {order.branch}."
    return Ending(outcome=_left_out(order, message))


def _left_out(order: Apply, message: str) -> Outcome:
    fault = FileFault("rejected", message)
    return Outcome({file["path"]: fault for file in order.files})
