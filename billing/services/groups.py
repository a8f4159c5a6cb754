"""Groups of calls that share a budget."""

from uuid import UUID

from accounts.models import User
from billing.models import ChargeGroup


def create_group(*, group_id: UUID, account: User, budget: int) -> ChargeGroup:
    """Create a group whose calls (`HoldRequest.group_id`) may cost `budget` nano-USD together: what
    plan and balance pay for those that have ended, and hold for those that run."""
    return ChargeGroup.objects.create(id=group_id, account=account, budget=budget)
