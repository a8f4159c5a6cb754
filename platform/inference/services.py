"""The door: the one way to call a provider, for every app."""

from inference.chat import ChatPump
from inference.embeddings import EmbeddingPump
from inference.errors import ProviderNotAvailable
from inference.images import ImagePump
from inference.runtime import get_runtime
from inference.speech import SpeechPump
from inference.types import ChatCall, EmbeddingCall, ImageCall, SpeechCall
from providers.registry import (
    get_chat_wire,
    get_embedding_wire,
    get_image_wire,
    get_speech_wire,
)

# What becomes of a call, its refusal included, is read from the pump. They all raise
# ProviderNotAvailable or ServiceUnavailable before anything is held.


async def open_chat(call: ChatCall) -> ChatPump:
    """Start a chat call."""
    wire = get_chat_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(ChatPump(call, wire, runtime.owner_id, runtime.note_progress))


async def open_embeddings(call: EmbeddingCall) -> EmbeddingPump:
    """Start an embeddings call."""
    wire = get_embedding_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(EmbeddingPump(call, wire, runtime.owner_id))


async def open_images(call: ImageCall) -> ImagePump:
    """Start an image call."""
    wire = get_image_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(ImagePump(call, wire, runtime.owner_id))


async def open_speech(call: SpeechCall) -> SpeechPump:
    """Start a speech call."""
    wire = get_speech_wire(call.model.provider)
    if wire is None:
        raise ProviderNotAvailable
    runtime = get_runtime()
    return await runtime.start(SpeechPump(call, wire, runtime.owner_id))
