"""What is left of the budget of a group of calls."""

from uuid import UUID

from billing.models import ChargeGroup


def left_of_group(group_id: UUID) -> int:
    """What the calls of the group may still cost, from plan and balance together, in nano-USD."""
    group = ChargeGroup.objects.get(pk=group_id)
    return group.budget - group.billed - group.held
