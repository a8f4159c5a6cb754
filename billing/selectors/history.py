"""The movements of an account's balance, and its calls."""

from datetime import date

from django.db.models import OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from billing.models import Charge, LedgerEntry, Refund
from common.ids import least_of_day

_EPOCH = date(1970, 1, 1)
# Kinds of calls that the platform makes for itself, such as titles. The platform also pays for
# messages of the free plan, but those are the user's.
_OURS = Q(funding=Charge.Funding.PLATFORM, free_window_start=None)


def list_entries(user: User, *, kind: str | None = None) -> QuerySet[LedgerEntry]:
    """The user's ledger, or its entries of one kind; for paging by `seq`. An entry of a refund has
    `refunded_charge_id` and `to_allowance`, its charge and what the allowance got; others have
    None."""
    refund = Refund.objects.filter(pk=OuterRef("pk"))
    entries = LedgerEntry.objects.filter(account=user).annotate(
        refunded_charge_id=Subquery(refund.values("charge_id")),
        to_allowance=Subquery(refund.values("to_allowance")),
    )
    return entries.filter(kind=kind) if kind else entries


def list_charges(
    user: User, *, first: date | None = None, last: date | None = None
) -> QuerySet[Charge]:
    """The user's calls, running ones included, from the first UTC day to the last; for paging by
    id, which is in the order of time."""
    charges = Charge.objects.filter(account=user).exclude(_OURS)
    if first:
        charges = charges.filter(pk__gte=least_of_day((first - _EPOCH).days))
    if last:
        charges = charges.filter(pk__lt=least_of_day((last - _EPOCH).days + 1))
    return charges
