"""Money in the admin. It is changed by the verbs of `billing.services.balance` alone."""

from billing.admin import accounts, contracts, history, plans

__all__ = ["accounts", "contracts", "history", "plans"]
