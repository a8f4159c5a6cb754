"""What is left of the budget of a group of calls."""

from uuid import UUID

from billing.models import ChargeGroup


def remaining_budget(group_id: UUID) -> int | None:
    """What the calls of the group may still cost, from plan and balance together, in nano-USD; None
    where it has no budget."""
    group = ChargeGroup.objects.get(pk=group_id)
    return group.budget - group.billed - group.held if group.budget is not None else None
