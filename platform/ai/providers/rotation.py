"""Providers with several keys: a call that one key is refused for is made with the next.

Each key has a wire of its own. The next key is used only where the provider has turned the request
away, so that nothing was begun and no output has come.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Generic, TypeVar

import structlog

from ai.providers.errors import ProviderError, ProviderUnavailable
from ai.providers.keys import KeyId, key_rests
from ai.providers.media import MediaWire
from ai.providers.operations import Accepted, OperationState, Unknown
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    ChatWire,
    Deadlines,
    EmbeddingRequest,
    Embeddings,
    EmbeddingWire,
    Image,
    ImageRequest,
    ImageWire,
    SpeechRequest,
    SpeechWire,
    Transcript,
)

log = structlog.get_logger(__name__)

T = TypeVar("T")
AnyWire = TypeVar("AnyWire")


class _Rotating(Generic[AnyWire]):
    """The wires of one provider, one for each key."""

    def __init__(self, keys: Sequence[KeyId], wires: Sequence[AnyWire]) -> None:
        self._keys = keys
        self._wires = wires

    async def _call(self, make: Callable[[AnyWire], Awaitable[T]]) -> T:
        """What the first key brings that is not refused. Raises the last refusal."""
        *keys, last = key_rests.in_order(self._keys)
        for key in keys:
            try:
                return await self._with(key, make)
            except ProviderUnavailable as error:
                if not _may_be_repeated(error):
                    raise
        return await self._with(last, make)

    async def _with(self, key: KeyId, make: Callable[[AnyWire], Awaitable[T]]) -> T:
        try:
            result = await make(self._wires[key.index])
        except ProviderUnavailable as error:
            _let_rest(key, error)
            raise
        key_rests.wake(key)
        return result

    async def _pieces(
        self, open_with: Callable[[AnyWire], AsyncGenerator[T, None]]
    ) -> AsyncGenerator[T, None]:
        """As `_call`, for an answer in pieces."""
        keys = key_rests.in_order(self._keys)
        for key in keys:
            try:
                async with aclosing(open_with(self._wires[key.index])) as pieces:
                    async for piece in pieces:
                        yield piece
            except ProviderUnavailable as error:
                _let_rest(key, error)
                if key is keys[-1] or not _may_be_repeated(error):
                    raise
            else:
                key_rests.wake(key)
                return


class RotatingChat(_Rotating[ChatWire]):
    """An `ai.providers.types.ChatWire`."""

    @property
    def shows_reasoning(self) -> bool:
        return self._wires[0].shows_reasoning

    def check(self, request: ChatRequest) -> None:
        """See `ChatWire.check`."""
        self._wires[0].check(request)

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """See `ChatWire.stream`."""
        return self._pieces(lambda wire: wire.stream(request, deadlines))

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """See `ChatWire.complete`."""
        return await self._call(lambda wire: wire.complete(request, deadlines))


class RotatingEmbeddings(_Rotating[EmbeddingWire]):
    """An `ai.providers.types.EmbeddingWire`."""

    async def embed(self, request: EmbeddingRequest, deadlines: Deadlines) -> Embeddings:
        """See `EmbeddingWire.embed`."""
        return await self._call(lambda wire: wire.embed(request, deadlines))


class RotatingImages(_Rotating[ImageWire]):
    """An `ai.providers.types.ImageWire`."""

    async def generate(self, request: ImageRequest, deadlines: Deadlines) -> list[Image]:
        """See `ImageWire.generate`."""
        return await self._call(lambda wire: wire.generate(request, deadlines))


class RotatingSpeech(_Rotating[SpeechWire]):
    """An `ai.providers.types.SpeechWire`."""

    async def transcribe(self, request: SpeechRequest, deadlines: Deadlines) -> Transcript:
        """See `SpeechWire.transcribe`."""
        return await self._call(lambda wire: wire.transcribe(request, deadlines))


class RotatingMedia(_Rotating[MediaWire[Any]]):
    """An `ai.providers.media.MediaWire`. An operation belongs to the key that has submitted it, and
    another key may not know it: all are asked."""

    @property
    def can_cancel(self) -> bool:
        return self._wires[0].can_cancel

    async def submit(self, order: Any, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`."""
        return await self._call(lambda wire: wire.submit(order, reference, seconds=seconds))

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        return await self._find(lambda wire: wire.poll(operation_id, seconds=seconds))

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`."""

        async def ask(wire: MediaWire[Any]) -> Unknown:
            await wire.cancel(operation_id, seconds=seconds)
            return Unknown()

        await self._find(ask)

    def download(self, url: str, *, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """See `MediaWire.download`."""
        return self._pieces(lambda wire: wire.download(url, limit=limit, seconds=seconds))

    async def _find(self, ask: Callable[[MediaWire[Any]], Awaitable[T | Unknown]]) -> T | Unknown:
        """The answer of the first key that knows the operation; Unknown where none does. Raises the
        error of a key that could not be asked, because that one may know it."""
        failure: ProviderError | None = None
        for wire in self._wires:
            try:
                answer = await ask(wire)
            except ProviderError as error:
                failure = failure or error
            else:
                if not isinstance(answer, Unknown):
                    return answer
        if failure is not None:
            raise failure
        return Unknown()


def _may_be_repeated(error: ProviderUnavailable) -> bool:
    return error.turned_away and error.fault != "model"


def _let_rest(key: KeyId, error: ProviderUnavailable) -> None:
    if error.fault == "model":
        return
    key_rests.rest(key, error.fault)
    log.error("provider.key_rests", provider=key.provider, key_index=key.index, reason=error.fault)
