"""Holding for a call in a Django transaction, together with the rows about the call."""

from typing import Any

from django.db import connection

from billing.hold_errors import HELD, refusal_of
from billing.types import HoldRequest
from catalog.selectors import get_catalog
from leases import services as leases

# The kind of a job's lease.
JOB = "job"
HOLD = "SELECT * FROM money_hold(%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s)"


def hold(request: HoldRequest) -> None:
    """Reserve the worst case of a call as `charges.hold` does, or raise the DomainError that says
    why not. It locks the wallet, before all other rows.

    The process of the request's `owner_id` starts the call within 15 seconds: after that it expires
    charges that it does not know.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD, hold_parameters(request))
        row: tuple[Any, ...] = cursor.fetchone()
    if row[0] != HELD:
        raise refusal_of(request, row, get_catalog())


def hold_for_job(request: HoldRequest) -> None:
    """Hold as `hold` does, for a call that a job makes later: `owner_id` is the job's id.

    The transaction creates the job too (`jobs.services.enqueue`), after all its holds. The hold is
    kept whatever process dies; it lapses at its deadline, or when the job ends. `charges.begin`
    gives the call a deadline of its own.
    """
    hold(request)
    # At once: the next hold of this account expires charges whose owner has no lease.
    leases.grant(owner_id=request.owner_id, kind=JOB)


def hold_parameters(request: HoldRequest) -> tuple[Any, ...]:
    """The parameters of money_hold."""
    return (
        request.charge_id,
        request.account_id,
        request.api_key_id,
        request.model_id,
        request.price_version_id,
        request.source,
        request.kind,
        request.funding,
        request.free_window,
        request.worst_cost,
        request.owner_id,
        request.seconds,
        request.request_id,
        request.group_id,
    )
