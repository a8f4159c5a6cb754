"""What an operator may see, and the accounts that one may act on."""

from typing import Any


def may_act_for(operator: Any, account: Any) -> bool:
    """Nobody acts on their own account, and only superusers on those of other operators."""
    if account.pk == operator.pk:
        return False
    return bool(operator.is_superuser or not account.is_staff)


def may_view(operator: Any, model: str) -> bool:
    """May this operator see the records of a model, such as `billing.charge`?"""
    app, name = model.split(".")
    return any(operator.has_perm(f"{app}.{verb}_{name}") for verb in ("view", "change"))
