"""The only way to call a provider, for all apps."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from ai.inference import probes
from ai.inference.abilities import check_abilities
from ai.inference.availability import acquire_permit, caller_of
from ai.inference.chat import ChatRunner
from ai.inference.embeddings import EmbeddingRunner
from ai.inference.images import ImageRunner
from ai.inference.runtime import AnyRunner, get_runtime
from ai.inference.speech import SpeechRunner
from ai.inference.types import Call, ChatCall, EmbeddingCall, ImageCall, SpeechCall
from ai.provider_health.errors import CallsKeepFailing, ProviderNotAvailable
from ai.provider_health.permit import Permit
from ai.provider_health.services import permit_of
from ai.providers.registry import (
    get_chat_wire,
    get_embedding_wire,
    get_image_wire,
    get_speech_wire,
)
from ai.providers.types import ChatWire
from billing.selectors import idempotency

AnyCall = TypeVar("AnyCall", bound=Call)
Wire = TypeVar("Wire")


async def admit() -> None:
    """Return if this process has room for a call, and a lease. Raises ServiceUnavailable."""
    await get_runtime().admit()


# What becomes of a call, its refusal included, is read from the runner. They all raise
# ProviderNotAvailable, CallsKeepFailing or ServiceUnavailable before anything is held:
# ProviderSuspended, with a `retry_after`, where the circuit of the model is open.


async def open_chat(call: ChatCall) -> ChatRunner:
    """Start a chat call. Raises UnsupportedParameter before anything is held."""
    wire = get_chat_wire(call.model.provider)
    check_abilities(call, wire)
    return await _start(call, wire, _chat_runner)


async def open_embeddings(call: EmbeddingCall) -> EmbeddingRunner:
    """Start an embeddings call."""
    return await _start(call, get_embedding_wire(call.model.provider), EmbeddingRunner)


async def open_images(call: ImageCall) -> ImageRunner:
    """Start an image call."""
    return await _start(call, get_image_wire(call.model.provider), ImageRunner)


async def open_speech(call: SpeechCall) -> SpeechRunner:
    """Start a speech call."""
    return await _start(call, get_speech_wire(call.model.provider), SpeechRunner)


# The runner of a request whose call was made before: it makes no call, and is given the answer.
# They raise ProviderNotAvailable where the provider is not configured any more.


def replay_chat(call: ChatCall) -> ChatRunner:
    """For the answer of a chat call."""
    return _replay(call, get_chat_wire(call.model.provider), _chat_runner)


def replay_embeddings(call: EmbeddingCall) -> EmbeddingRunner:
    """For the answer of an embeddings call."""
    return _replay(call, get_embedding_wire(call.model.provider), EmbeddingRunner)


def replay_images(call: ImageCall) -> ImageRunner:
    """For the answer of an image call."""
    return _replay(call, get_image_wire(call.model.provider), ImageRunner)


def _chat_runner(call: ChatCall, wire: ChatWire, permit: Permit, owner_id: UUID) -> ChatRunner:
    return ChatRunner(call, wire, permit, owner_id, get_runtime().note_progress)


async def _start(
    call: AnyCall, wire: Wire | None, runner_of: Callable[[AnyCall, Wire, Permit, UUID], AnyRunner]
) -> AnyRunner:
    if wire is None:
        raise ProviderNotAvailable
    permit, runtime = await _acquire(call), get_runtime()
    try:
        runner = await runtime.start(runner_of(call, wire, permit, runtime.owner_id))
    except BaseException:
        permit.release()
        raise
    probes.keep_probing()
    return runner


def _replay(
    call: AnyCall, wire: Wire | None, runner_of: Callable[[AnyCall, Wire, Permit, UUID], AnyRunner]
) -> AnyRunner:
    if wire is None:
        raise ProviderNotAvailable
    return runner_of(call, wire, permit_of(call.model, None), get_runtime().owner_id)


async def _acquire(call: Call) -> Permit:
    """Let a call through to its provider, or to its stored answer. Raises ProviderNotAvailable and
    CallsKeepFailing."""
    try:
        return await acquire_permit(call)
    except (ProviderNotAvailable, CallsKeepFailing):
        key = call.request_key
        if key is None or not await idempotency.has_ended(call.account_id, key):
            raise
    return permit_of(call.model, caller_of(call))
