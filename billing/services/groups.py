"""Groups of calls that share a budget."""

from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from billing.errors import BudgetBelowSpent
from billing.models import ChargeGroup
from billing.queries import fetch_row


def create_group(*, group_id: UUID, account: User, budget: int | None) -> ChargeGroup:
    """Create a group whose calls (`HoldRequest.group_id`) may cost `budget` nano-USD together: what
    plan and balance pay for those that have ended, and hold for those that run. None is no bound.
    """
    return ChargeGroup.objects.create(id=group_id, account=account, budget=budget)


def ensure_group(*, group_id: UUID, account: User) -> None:
    """Create a group without a bound, unless it is there."""
    # An insertion over one that is there would wait for its calls that end, which may wait for
    # the caller's locks.
    if not ChargeGroup.objects.filter(pk=group_id).exists():
        group = ChargeGroup(id=group_id, account=account, budget=None)
        ChargeGroup.objects.bulk_create([group], ignore_conflicts=True)


def set_budget(
    *, group_id: UUID, account: User, budget: int | None, calls: Collection[UUID] = ()
) -> None:
    """Set the budget of a group for the calls to come, None for no bound. It locks the wallet,
    before all other rows. Of `calls`, the ids of charges, those count as well that were held before
    there was a group.

    Raises BudgetBelowSpent where the calls have been billed more than that, with what is held.
    """
    verdict, spent = fetch_row(
        "SELECT * FROM money_set_group_budget(%s, %s, %s, %s)",
        *(group_id, account.pk, budget, [*calls]),
    )
    if verdict == "below_spent":
        raise BudgetBelowSpent(spent)
