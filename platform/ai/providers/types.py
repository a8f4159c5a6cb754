"""The requests and answers of every wire: one small stream of frozen structs, for any provider.

Creating msgspec's structs is several times faster than dataclasses, and there is one for every
delta.
"""

from collections.abc import AsyncGenerator
from typing import Literal, Protocol

from msgspec import Struct

from media.audio.measuring import AudioFormat

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter"]
ReasoningEffort = Literal["low", "medium", "high"]


class Message(Struct, frozen=True):
    role: Role
    text: str


class ChatRequest(Struct, frozen=True):
    """A chat call for a provider.

    `model` is the provider's own id. `max_output_tokens` bounds everything billable, reasoning
    included; it is the number that the hold covers, so a wire must send exactly this bound.
    """

    model: str
    messages: tuple[Message, ...]
    max_output_tokens: int
    reasoning_effort: ReasoningEffort | None = None


class TextDelta(Struct, frozen=True, gc=False):
    text: str


class ReasoningDelta(Struct, frozen=True, gc=False):
    text: str


class Usage(Struct, frozen=True, gc=False):
    """Tokens as billed. `input_tokens` includes `cached_tokens`; `output_tokens` includes
    `reasoning_tokens`, whatever the provider's own convention is."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class Finish(Struct, frozen=True, gc=False):
    reason: FinishReason


Delta = TextDelta | ReasoningDelta
ChatEvent = Delta | Usage | Finish


class EmbeddingRequest(Struct, frozen=True):
    """Texts to embed. `dimensions` is the length of the vectors, None for the model's own."""

    model: str
    inputs: tuple[str, ...]
    dimensions: int | None = None


class Embeddings(Struct, frozen=True):
    """One vector per input, in order, each as base64 of little-endian float32 numbers.

    `input_tokens` is the provider's count, None where it sent none.
    """

    vectors: list[str]
    input_tokens: int | None


ImageSize = Literal["1024x1024", "1536x1024", "1024x1536"]
ImageQuality = Literal["low", "standard", "high"]


class Image(Struct, frozen=True):
    """One picture: its bytes, the media type that the bytes have (`image/png`, ...), and the seed
    that it was made with, None where nobody knows it."""

    data: bytes
    media_type: str
    seed: int | None = None


class ImageRequest(Struct, frozen=True):
    """Pictures to create. A wire maps the size to the nearest one of its models.

    `references` are pictures to make them of: PNG, JPEG or WebP. With a `seed`, equal requests
    bring similar pictures.
    """

    model: str
    prompt: str
    n: int
    size: ImageSize
    quality: ImageQuality
    references: tuple[Image, ...] = ()
    negative_prompt: str = ""
    seed: int | None = None


class SpeechRequest(Struct, frozen=True):
    """Audio to transcribe. `language` is its ISO 639-1 code, None where it is unknown."""

    model: str
    audio: bytes
    format: AudioFormat
    language: str | None = None


class Transcript(Struct, frozen=True):
    """The transcribed text. `language` is an ISO 639-1 code, None where the provider sends none."""

    text: str
    language: str | None


class Deadlines(Struct, frozen=True):
    """Seconds. `first_byte` and `idle` concern streamed calls only; `total` concerns both."""

    connect: float = 5.0
    first_byte: float = 90.0
    idle: float = 60.0
    total: float = 570.0


class ChatWire(Protocol):
    """One provider's chat interface. Both calls raise only `ai.providers.errors.ProviderError`s."""

    @property
    def shows_reasoning(self) -> bool:
        """Is all billed reasoning sent as `ReasoningDelta`s?"""
        ...

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """Yield batches of events: all events of one read from the network.

        A stream ends after a `Finish`; otherwise it raises `UpstreamError`. A `Usage` counts from
        the beginning, whenever it comes: the last one is right.
        """
        ...

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """The whole answer at once: text, usage (if any) and finish."""
        ...


class EmbeddingWire(Protocol):
    """One provider's embeddings interface."""

    async def embed(self, request: EmbeddingRequest, deadlines: Deadlines) -> Embeddings:
        """All vectors, from as many calls upstream as needed. Raises only ProviderErrors."""
        ...


class ImageWire(Protocol):
    """One provider's image interface."""

    async def generate(self, request: ImageRequest, deadlines: Deadlines) -> list[Image]:
        """The delivered pictures: at least one, at most `request.n`.

        Raises only ProviderErrors; `RequestRefused` with `blocked` where moderation refused, and
        where the provider does not take a field of the request.
        """
        ...


class SpeechWire(Protocol):
    """One provider's speech interface."""

    async def transcribe(self, request: SpeechRequest, deadlines: Deadlines) -> Transcript:
        """The text of the audio; empty where nothing is said. Raises only ProviderErrors."""
        ...
