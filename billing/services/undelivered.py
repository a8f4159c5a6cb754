"""Answers whose callers went away, kept for those who send the request again.

All may raise DatabaseUnavailable; each step may be repeated.
"""

from uuid import UUID

from billing.types import Claim, Claimed, Retry, UndeliveredCall, as_json
from common.batching import Batcher
from common.database import get_database
from common.loop_local import LoopLocal

# Outcomes of a claim.
CLAIMED = "claimed"
CONNECTED = "connected"


async def note(call: UndeliveredCall) -> bool:
    """Note that the caller of a call that runs has gone. False where the call is not held yet, has
    ended, or is just being resolved."""
    return await _notes.get().run(call)


async def keep(call: UndeliveredCall, answer: bytes) -> bool:
    """Keep the answer of a call that has ended. False where it was not settled."""
    is_kept: bool
    (is_kept,) = await get_database().row(
        "SELECT keep_undelivered(%s, %s)", (as_json(call), answer)
    )
    return is_kept


async def claim(retry: Retry, claim_id: UUID, owner_id: UUID) -> tuple[str, Claim | None]:
    """Claim the answer of an undelivered call of the same request for this process. The outcome is
    CLAIMED; CONNECTED where no caller is known to have gone, but a call runs that could be that of
    the request; or `none`. The same claim may be tried again."""
    outcome, charge_id = await get_database().row(
        "SELECT * FROM claim_undelivered(%s, %s, %s)", (as_json(retry), claim_id, owner_id)
    )
    return outcome, Claim(claim_id, charge_id) if outcome == CLAIMED else None


async def look(claim: Claim) -> Claimed | None:
    """The claimed call as it stands now; None where it is not claimed any more."""
    rows = await get_database().rows(
        "SELECT * FROM claimed_undelivered(%s, %s)", (claim.charge_id, claim.id)
    )
    return Claimed(*rows[0]) if rows else None


async def give_back(claim: Claim) -> None:
    """The answer could not be delivered: the next repetition may have it."""
    await get_database().rows(
        "UPDATE billing_undeliveredanswer SET claim = NULL, claimed_by = NULL"
        " WHERE charge_id = %s AND claim = %s RETURNING 1",
        (claim.charge_id, claim.id),
    )


async def forget(claim: Claim) -> None:
    """The answer was delivered."""
    await get_database().rows(
        "DELETE FROM billing_undeliveredanswer WHERE charge_id = %s AND claim = %s RETURNING 1",
        (claim.charge_id, claim.id),
    )


async def _note_many(calls: list[UndeliveredCall]) -> list[bool]:
    rows = await get_database().rows("SELECT * FROM note_undelivered(%s)", (as_json(calls),))
    noted = {row[0] for row in rows}
    return [call.charge_id in noted for call in calls]


# A proxy that restarts takes a thousand callers with it.
_notes = LoopLocal(lambda: Batcher(_note_many, name="undelivered"))
