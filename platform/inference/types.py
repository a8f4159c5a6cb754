"""What a caller asks of the door, and what it gets."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from msgspec import Struct

from audio.measuring import AudioFormat
from billing.types import Ending, Funding, RequestKey, Resolution, Source
from catalog.types import Model
from common.errors import DomainError
from inference.bounds import output_bound
from providers.types import (
    FinishReason,
    ImageQuality,
    ImageSize,
    Message,
    ReasoningEffort,
    Usage,
)

# Ends the charge together with what came of the call, in one transaction; called again until it
# returns. It gets the call's error, if it has one.
Conclude = Callable[[Ending, DomainError | None], Awaitable[Resolution]]


class Call(Struct, frozen=True, kw_only=True):
    """A call and who pays for it. `total_seconds` is how long it may take. A call with a
    `request_key` happens once, however often it is sent.

    A caller with rows of its own that tell of the call names its charge (`charge_id`) and writes
    them with the charge's end (`conclude`). It may have held for it in the transaction of those
    rows (`is_held`, see inference.holds); it then ends the charge where the call is not started.
    """

    account_id: UUID
    api_key_id: UUID | None
    source: Source
    model: Model
    request_id: str
    total_seconds: float
    request_key: RequestKey | None = None
    charge_id: UUID | None = None
    conclude: Conclude | None = None
    funding: Funding = "customer"
    free_window: bool = False
    is_held: bool = False


class ChatCall(Call, frozen=True, kw_only=True):
    """`max_output_tokens` is what the caller named, if anything."""

    messages: tuple[Message, ...]
    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    stream: bool = False
    total_seconds: float = 570.0

    @property
    def output_bound(self) -> int:
        """The most that may be produced: it is held for, and sent to the provider."""
        return output_bound(self.model, self.max_output_tokens)


class EmbeddingCall(Call, frozen=True, kw_only=True):
    """Texts to embed; `dimensions` is None for the model's own."""

    inputs: tuple[str, ...]
    dimensions: int | None = None
    total_seconds: float = 60.0


class ImageCall(Call, frozen=True, kw_only=True):
    """Pictures to make: `n` of that size and quality."""

    prompt: str
    n: int
    size: ImageSize
    quality: ImageQuality
    total_seconds: float = 170.0


class SpeechCall(Call, frozen=True, kw_only=True):
    """Audio to write down: `duration` is how many seconds of it were measured, `language` an ISO
    639-1 code or None."""

    audio: bytes
    format: AudioFormat
    duration: float
    language: str | None = None
    total_seconds: float = 300.0


class ChatAnswer(Struct, frozen=True):
    """How a call ended well: why the model stopped, and the tokens that are billed."""

    finish_reason: FinishReason
    usage: Usage


class EmbeddingAnswer(Struct, frozen=True):
    """One vector per input, in order, each as base64 of little-endian float32 numbers, and the
    tokens that are billed."""

    vectors: list[str]
    input_tokens: int


class ImageAnswer(Struct, frozen=True):
    """The pictures that were delivered, and billed: names of stored files."""

    files: list[str]


class SpeechAnswer(Struct, frozen=True):
    """What was said, in which language (an ISO 639-1 code, if known), in how many seconds."""

    text: str
    language: str | None
    duration: float
