"""The requests and answers of every wire: one small stream of frozen structs, for any provider.

Creating msgspec's structs is several times faster than dataclasses, and there is one for every
delta.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from media.audio.measuring import AudioFormat

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "content_filter", "tool_calls"]
ReasoningEffort = Literal["low", "medium", "high"]
ImageDetail = Literal["auto", "low", "high"]
ToolChoice = Literal["auto", "none", "required", "named"]


class InputImage(Struct, frozen=True):
    """A picture that a model looks at: PNG, JPEG, WebP or GIF. `width` and `height` are in pixels;
    `detail` is how closely it looks, where its provider has such a choice."""

    data: bytes
    media_type: str
    width: int
    height: int
    detail: ImageDetail = "auto"


class ToolCall(Struct, frozen=True):
    """A call of a function that a model asks for. `arguments` is JSON as the model wrote it, which
    may be malformed. The `id` may carry what the provider wants back with the call: see
    `ai.providers.call_ids`."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True):
    """A turn. `parts` are its text and pictures in their order, where it has pictures; `text` is
    then the text of them all. A turn of the assistant may have `tool_calls`; one of role `tool`
    is the result of the call `tool_call_id`, a call of an earlier turn."""

    role: Role
    text: str
    parts: tuple[str | InputImage, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    @property
    def images(self) -> list[InputImage]:
        return [part for part in self.parts if isinstance(part, InputImage)]


class Tool(Struct, frozen=True):
    """A function that a model may ask to be called. `parameters` is the JSON Schema of its
    arguments, an object. `strict`: the arguments have to match the schema."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    strict: bool = False


class Tools(Struct, frozen=True):
    """The functions of a call. `choice` says whether the model asks for one; `named` is the one
    that it has to ask for. `parallel`: it may ask for several at once."""

    functions: tuple[Tool, ...]
    choice: ToolChoice = "auto"
    named: str = ""
    parallel: bool = True


class JsonOutput(Struct, frozen=True):
    """An answer in JSON: by a JSON Schema, or any object where `schema` is None. `strict`: the
    answer has to match the schema."""

    schema: Mapping[str, Any] | None = None
    name: str = "answer"
    description: str = ""
    strict: bool = False


class ChatRequest(Struct, frozen=True):
    """A chat call for a provider.

    `model` is the provider's own id. `max_output_tokens` bounds everything billable, reasoning
    included; it is the number that the hold covers, so a wire must send exactly this bound.
    """

    model: str
    messages: tuple[Message, ...]
    max_output_tokens: int
    reasoning_effort: ReasoningEffort | None = None
    tools: Tools | None = None
    output: JsonOutput | None = None


class TextDelta(Struct, frozen=True, gc=False):
    text: str


class ReasoningDelta(Struct, frozen=True, gc=False):
    text: str


class RefusalDelta(Struct, frozen=True, gc=False):
    """A piece of the sentence with which a model declines to answer in the form that was asked
    for. Where no form was asked for, this is text."""

    text: str


class ToolCallDelta(Struct, frozen=True, gc=False):
    """A piece of the tool call with this index; the first piece has its `id` and `name`, and all
    `text`s together are its arguments."""

    index: int
    text: str
    id: str = ""
    name: str = ""


class Usage(Struct, frozen=True, gc=False):
    """Tokens as billed. `input_tokens` includes `cached_tokens`; `output_tokens` includes
    `reasoning_tokens`, whatever the provider's own convention is."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class Finish(Struct, frozen=True, gc=False):
    reason: FinishReason


Words = TextDelta | ReasoningDelta | RefusalDelta
Delta = Words | ToolCallDelta
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

    def check(self, request: ChatRequest) -> None:
        """Raise Unsupported where the provider does not take a parameter of the request."""
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
