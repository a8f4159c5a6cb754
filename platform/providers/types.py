"""What every wire takes and gives: one small stream of frozen dataclasses, for any provider."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter"]
ReasoningEffort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat call as the provider shall see it.

    `model` is the provider's own id. `max_output_tokens` bounds everything billable, reasoning
    included; it is the number that the hold covers, so a wire must send exactly this bound.
    """

    model: str
    messages: tuple[Message, ...]
    max_output_tokens: int
    reasoning_effort: ReasoningEffort | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as billed. `input_tokens` includes `cached_tokens`; `output_tokens` includes
    `reasoning_tokens`, whatever the provider's own convention is."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    reason: FinishReason


Delta = TextDelta | ReasoningDelta
ChatEvent = Delta | Usage | Finish


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds. `first_byte` and `idle` concern streamed calls only; `total` concerns both."""

    connect: float = 5.0
    first_byte: float = 90.0
    idle: float = 60.0
    total: float = 570.0


class ChatWire(Protocol):
    """One provider's chat interface. Both calls raise only `providers.errors.ProviderError`s."""

    def stream(
        self, request: ChatRequest, deadlines: Deadlines
    ) -> AsyncGenerator[list[ChatEvent], None]:
        """Yield batches of events: all that one read from the network brought.

        A stream ends after a `Finish`; one that ends without raises `UpstreamError`. At most one
        `Usage` comes, before the iteration ends; none if the provider sent none.
        """
        ...

    async def complete(self, request: ChatRequest, deadlines: Deadlines) -> list[ChatEvent]:
        """The whole answer at once: text, usage (if any) and finish."""
        ...
