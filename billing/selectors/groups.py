"""Groups of calls that share a budget."""

from uuid import UUID

from accounts.models import User
from billing.models import ChargeGroup
from common.errors import NotFound


def get_group(user: User, group_id: UUID) -> ChargeGroup:
    """A group of the user, with what it has billed and holds. Raises NotFound."""
    group = ChargeGroup.objects.filter(account=user, pk=group_id).first()
    if group is None:
        raise NotFound
    return group
