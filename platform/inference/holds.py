"""What a call asks to hold, in money and in time."""

from uuid import UUID

from msgspec.structs import replace

from billing.types import HoldRequest
from inference.bounds import chat_cost, input_bound
from inference.types import Call, ChatCall

# A charge's deadline lies this many seconds after the last moment its call may take.
GRACE_SECONDS = 60
CHAT = "chat"


def hold_request(call: ChatCall, owner_id: UUID, *, waits: float = 0) -> HoldRequest:
    """The hold of a chat call, for a caller that makes it with rows of its own
    (`billing.services.holds`). `owner_id` is the process that makes the call at once (`hold`), or
    the job that makes it within `waits` seconds (`hold_for_job`).

    Raises ValueError where the call does not name its charge.
    """
    if call.charge_id is None:
        raise ValueError("Whoever holds for a call names its charge.")
    worst = chat_cost(call.model, input_bound(call.model, call.messages), call.output_bound)
    request = request_of(call, call.charge_id, kind=CHAT, worst_cost=worst, owner_id=owner_id)
    return replace(request, seconds=request.seconds + int(waits))


def request_of(
    call: Call, charge_id: UUID, *, kind: str, worst_cost: int, owner_id: UUID
) -> HoldRequest:
    """The hold of any call; `worst_cost` in nano-USD at cost."""
    return HoldRequest(
        charge_id=charge_id,
        account_id=call.account_id,
        api_key_id=call.api_key_id,
        model_id=call.model.id,
        price_version_id=call.model.price.version_id,
        source=call.source,
        kind=kind,
        worst_cost=worst_cost,
        owner_id=owner_id,
        seconds=deadline_seconds(call),
        request_id=call.request_id,
        funding=call.funding,
        free_window=call.free_window,
        group_id=call.group_id,
    )


def deadline_seconds(call: Call) -> int:
    """The seconds from the beginning of a call to the deadline of its charge."""
    return int(call.total_seconds) + GRACE_SECONDS
