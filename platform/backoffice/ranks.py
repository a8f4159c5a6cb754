"""The accounts that an operator may act on."""

from typing import Any


def may_act_for(operator: Any, account: Any) -> bool:
    """Nobody acts on their own account, and only superusers on those of other operators."""
    if account.pk == operator.pk:
        return False
    return bool(operator.is_superuser or not account.is_staff)
