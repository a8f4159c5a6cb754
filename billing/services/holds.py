"""Holding for a call in a Django transaction, together with the rows about the call."""

from ai.catalog.selectors import get_catalog
from billing.hold_errors import HELD, SHORTAGE, Shortage, concerns_money, refusal_of
from billing.queries import fetch_row
from billing.types import HoldRequest, as_json
from observability.tracing import spans
from work.leases import services as leases

# The kind of a job's lease.
JOB = "job"
HOLD = "SELECT * FROM money_hold(%s)"


def hold(request: HoldRequest) -> None:
    """Reserve the worst case of a call as `charges.hold` does, or raise the DomainError that says
    why not. It locks the wallet, before all other rows.

    The process of the request's `owner_id` starts the call within 15 seconds: after that it expires
    charges that it does not know.
    """
    with spans.span("hold", charge_id=str(request.charge_id)):
        row = fetch_row(HOLD, as_json(request))
        if row[0] == HELD:
            return
        shortage = None
        if concerns_money(row):
            shortage = Shortage.of(*fetch_row(SHORTAGE, as_json(request)))
        raise refusal_of(request, row, shortage, get_catalog())


def hold_for_job(request: HoldRequest) -> None:
    """Hold as `hold` does, for a call that a job makes later: `owner_id` is the job's id.

    The transaction creates the job too (`work.jobs.services.enqueue`), after all its holds. The
    hold is kept whatever process dies; it lapses at its deadline, or when the job ends.
    `charges.begin` gives the call a deadline of its own.
    """
    hold(request)
    # At once: the next hold of this account expires charges whose owner has no lease.
    leases.grant(owner_id=request.owner_id, kind=JOB)
