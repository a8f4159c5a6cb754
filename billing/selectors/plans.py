"""Plans, and what they and contracts grant."""

from uuid import UUID

from common.database import get_database


async def models_in_plan(account_id: UUID, plan: str) -> frozenset[str]:
    """The models of which an account on that plan is granted an allowance, contracts included."""
    rows = await get_database().rows(
        "SELECT model_id FROM granted_allowances(%s, %s) WHERE granted > 0", (account_id, plan)
    )
    return frozenset(row[0] for row in rows)
