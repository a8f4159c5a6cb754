"""The only way to call a provider, for all apps."""

from inference.chat import ChatRunner
from inference.embeddings import EmbeddingRunner
from inference.errors import ProviderNotAvailable
from inference.images import ImageRunner
from inference.runtime import get_runtime
from inference.speech import SpeechRunner
from inference.types import ChatCall, EmbeddingCall, ImageCall, SpeechCall
from providers.registry import (
    get_chat_wire,
    get_embedding_wire,
    get_image_wire,
    get_speech_wire,
)


async def admit() -> None:
    """Return if this process has room for a call, and a lease. Raises ServiceUnavailable."""
    await get_runtime().admit()


# What becomes of a call, its refusal included, is read from the runner. They all raise
# ProviderNotAvailable or ServiceUnavailable before anything is held.


async def open_chat(call: ChatCall) -> ChatRunner:
    """Start a chat call."""
    wire = get_chat_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(ChatRunner(call, wire, runtime.owner_id, runtime.note_progress))


async def open_embeddings(call: EmbeddingCall) -> EmbeddingRunner:
    """Start an embeddings call."""
    wire = get_embedding_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(EmbeddingRunner(call, wire, runtime.owner_id))


async def open_images(call: ImageCall) -> ImageRunner:
    """Start an image call."""
    wire = get_image_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(ImageRunner(call, wire, runtime.owner_id))


async def open_speech(call: SpeechCall) -> SpeechRunner:
    """Start a speech call."""
    wire = get_speech_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(SpeechRunner(call, wire, runtime.owner_id))
