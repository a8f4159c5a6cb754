"""What a caller asks of the door, and what it gets."""

from uuid import UUID

from msgspec import Struct

from billing.types import Source
from catalog.types import Model
from providers.types import FinishReason, Message, ReasoningEffort, Usage

DEFAULT_OUTPUT_TOKENS = 8_192


class ChatCall(Struct, frozen=True):
    """A chat call and who pays for it. `max_output_tokens` is what the caller named, if anything;
    `total_seconds` is how long the call may take."""

    account_id: UUID
    api_key_id: UUID | None
    source: Source
    model: Model
    messages: tuple[Message, ...]
    max_output_tokens: int | None
    reasoning_effort: ReasoningEffort | None
    stream: bool
    request_id: str
    total_seconds: float = 570.0

    @property
    def output_bound(self) -> int:
        """The most that may be produced: it is held for, and sent to the provider."""
        asked = self.max_output_tokens or DEFAULT_OUTPUT_TOKENS
        return min(asked, self.model.max_output_tokens)


class Answer(Struct, frozen=True):
    """How a call ended well: why the model stopped, and the tokens that are billed."""

    finish_reason: FinishReason
    usage: Usage
