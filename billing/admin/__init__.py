"""Money in the admin. Only the functions of `billing.services.balance` change it."""

from billing.admin import accounts, contracts, history, plans

__all__ = ["accounts", "contracts", "history", "plans"]
