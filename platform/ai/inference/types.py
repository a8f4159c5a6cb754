"""The requests and results of calls to models."""

import math
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import ClassVar, cast
from uuid import UUID

from msgspec import Struct

from ai.catalog.pricing import image_cost, speech_cost, token_cost
from ai.catalog.types import ImagePrice, Model, SpeechPrice, TokenPrice
from ai.inference.bounds import chat_cost, input_bound, output_bound
from ai.providers.tokens import estimate_input, texts_upper_bound
from ai.providers.types import (
    ChatRequest,
    FinishReason,
    ImageQuality,
    ImageSize,
    JsonOutput,
    Message,
    ReasoningEffort,
    Tools,
    Usage,
)
from billing.types import Ending, Funding, RequestKey, Resolution, Source
from common.errors import DomainError
from media.audio.measuring import AudioFormat

# Ends the charge together with what came of the call, in one transaction; called again until it
# returns. It gets the call's error, if it has one.
Conclude = Callable[[Ending, DomainError | None], Awaitable[Resolution]]


class Call(Struct, frozen=True, kw_only=True, dict=True):
    """A call and its payer. `total_seconds` is the longest time that the call may take. A call with
    a `request_key` is carried out once, however often the request is sent. `kind` is the word for
    the call in charges and logs.

    The cost of a call of a group (`group_id`) counts against the budget of the group.

    `free_network` is the network of a free account, which shares its quota of failed calls with it;
    empty where it is not known, and None for other accounts.

    A caller whose own rows describe the call names the charge (`charge_id`), and writes these rows
    in the transaction that ends the charge (`conclude`). The caller may have placed the hold in the
    transaction that creates the rows (see ai.inference.holds): `held_by` is the owner of that
    charge, which is this process or a job. Then the caller ends the charge where the call is not
    started.
    """

    kind: ClassVar[str]

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
    held_by: UUID | None = None
    group_id: UUID | None = None
    free_network: str | None = None

    @property
    def worst_cost(self) -> int:
        """The most that the call can cost, in nano-USD at cost: what is held for it."""
        raise NotImplementedError


class ChatCall(Call, frozen=True, kw_only=True):
    """`max_output_tokens` is the caller's bound, if any. The model may ask for calls of `tools`,
    and answers in the form of `output`; whoever makes the call carries the tools out."""

    kind = "chat"

    messages: tuple[Message, ...]
    max_output_tokens: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    tools: Tools | None = None
    output: JsonOutput | None = None
    stream: bool = False
    total_seconds: float = 570.0

    @cached_property
    def request(self) -> ChatRequest:
        """The request for the provider."""
        return ChatRequest(
            self.model.upstream_model,
            self.messages,
            self.output_bound,
            self.reasoning_effort,
            self.tools,
            self.output,
        )

    @property
    def output_bound(self) -> int:
        """The upper bound of the output: it is held for, and sent to the provider."""
        return output_bound(self.model, self.max_output_tokens)

    @cached_property
    def input_bound(self) -> int:
        """The upper bound of the input tokens."""
        return input_bound(self.model, self.messages, self.tools, self.output)

    @cached_property
    def estimated_input(self) -> int:
        """An estimate of the input tokens, for a provider that does not count them."""
        return estimate_input(
            self.messages, provider=self.model.provider, tools=self.tools, output=self.output
        )

    @property
    def worst_cost(self) -> int:
        return chat_cost(self.model, self.input_bound, self.output_bound)


class EmbeddingCall(Call, frozen=True, kw_only=True):
    """Texts to embed; `dimensions` is None for the model's own."""

    kind = "embeddings"

    inputs: tuple[str, ...]
    dimensions: int | None = None
    total_seconds: float = 60.0

    @cached_property
    def input_bound(self) -> int:
        """The upper bound of the tokens of the texts."""
        return texts_upper_bound(self.inputs)

    @property
    def worst_cost(self) -> int:
        return token_cost(cast(TokenPrice, self.model.price), self.input_bound, 0)


class ImageCall(Call, frozen=True, kw_only=True):
    """Pictures to make: `n` of this size and quality."""

    kind = "images"

    prompt: str
    n: int
    size: ImageSize
    quality: ImageQuality
    total_seconds: float = 170.0

    @property
    def worst_cost(self) -> int:
        return image_cost(cast(ImagePrice, self.model.price), self.quality, self.n)


class SpeechCall(Call, frozen=True, kw_only=True):
    """Audio to transcribe: `duration` is its measured length in seconds, `language` an ISO 639-1
    code or None."""

    kind = "speech"

    audio: bytes
    format: AudioFormat
    duration: float
    language: str | None = None
    total_seconds: float = 300.0

    @property
    def billed_seconds(self) -> int:
        """The seconds that are billed, and held for: the length is measured before the call."""
        return billed_seconds(self.model, self.duration)

    @property
    def worst_cost(self) -> int:
        return speech_cost(cast(SpeechPrice, self.model.price), self.billed_seconds)


def billed_seconds(model: Model, duration: float) -> int:
    """The whole seconds that audio of that length is billed as."""
    return max(1, model.minimum_seconds, math.ceil(duration))


class ChatAnswer(Struct, frozen=True):
    """The result of a chat call that ended well: why the model stopped, and the billed tokens."""

    finish_reason: FinishReason
    usage: Usage


class EmbeddingAnswer(Struct, frozen=True):
    """One vector per input, in order, each as base64 of little-endian float32 numbers, and the
    tokens that are billed."""

    vectors: list[str]
    input_tokens: int


class ImageAnswer(Struct, frozen=True):
    """The pictures that were delivered and billed: names of stored files."""

    files: list[str]


class SpeechAnswer(Struct, frozen=True):
    """The text, its language (an ISO 639-1 code, if known), and the seconds of audio."""

    text: str
    language: str | None
    duration: float
