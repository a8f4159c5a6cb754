"""What a call asks to hold, in money and in time."""

from uuid import UUID

from ai.inference.types import Call
from billing.selectors.payers import payer_of
from billing.types import HoldRequest

# A charge's deadline lies this many seconds after the last moment its call may take.
GRACE_SECONDS = 60


def hold_request(
    call: Call, owner_id: UUID, *, charge_id: UUID | None = None, waits: float = 0
) -> HoldRequest:
    """The hold of a call. The id of the charge is the one that the call names, or `charge_id`.

    `owner_id` is the process that makes the call at once, or the job that makes the call within
    `waits` seconds (`billing.services.holds.hold_for_job`). Raises ValueError where no id is given.
    """
    charge_id = charge_id or call.charge_id
    if charge_id is None:
        raise ValueError("The hold of a call needs the id of a charge.")
    return HoldRequest(
        charge_id=charge_id,
        account_id=payer_of(call.account_id),
        api_key_id=call.api_key_id,
        model_id=call.model.id,
        price_version_id=call.model.price.version_id,
        source=call.source,
        kind=call.kind,
        worst_cost=call.worst_cost,
        owner_id=owner_id,
        seconds=deadline_seconds(call) + int(waits),
        request_id=call.request_id,
        funding=call.funding,
        free_window=call.free_window,
        group_id=call.group_id,
    )


def deadline_seconds(call: Call) -> int:
    """The seconds from the beginning of a call to the deadline of its charge."""
    return int(call.total_seconds) + GRACE_SECONDS
