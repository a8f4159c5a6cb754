"""The door: the one way to call a provider, for every app."""

from inference.chat import ChatPump
from inference.errors import ProviderNotAvailable
from inference.runtime import get_runtime
from inference.types import ChatCall
from providers.registry import get_chat_wire


async def open_chat(call: ChatCall) -> ChatPump:
    """Start a chat call. What becomes of it, its refusal included, is read from the pump.

    Raises ProviderNotAvailable or ServiceUnavailable before anything is held.
    """
    wire = get_chat_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(ChatPump(call, wire, runtime.owner_id, runtime.note_progress))
