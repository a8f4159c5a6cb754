"""Who pays."""

from uuid import UUID


def payer_of(account_id: UUID) -> UUID:
    """The account whose allowance and balance a call of this account uses: its own, also for the
    members of a team. Every hold asks here."""
    return account_id
