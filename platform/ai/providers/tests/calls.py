"""Calling a wire in a test."""

from ai.providers.errors import ProviderError
from ai.providers.types import (
    ChatEvent,
    ChatRequest,
    ChatWire,
    Deadlines,
    Message,
    ReasoningDelta,
    TextDelta,
)

# No test waits for these: an upstream of tests answers at once, on a busy machine after seconds.
AMPLE = Deadlines(connect=20.0, first_byte=20.0, idle=20.0, total=50.0)


def within(
    *,
    first_byte: float = AMPLE.first_byte,
    idle: float = AMPLE.idle,
    total: float = AMPLE.total,
) -> Deadlines:
    """Those deadlines, of which the test waits for the ones that it gives."""
    return Deadlines(connect=AMPLE.connect, first_byte=first_byte, idle=idle, total=total)


def request(*messages: Message, effort: str | None = None, bound: int = 100) -> ChatRequest:
    return ChatRequest(
        "some-model",
        messages or (Message("user", "Hello"),),
        bound,
        effort,  # type: ignore[arg-type]
    )


async def events_of(
    wire: ChatWire, call: ChatRequest | None = None, deadlines: Deadlines = AMPLE
) -> list[ChatEvent]:
    """All events of a streamed call."""
    return [e async for batch in wire.stream(call or request(), deadlines) for e in batch]


async def events_and_failure(
    wire: ChatWire, deadlines: Deadlines = AMPLE, call: ChatRequest | None = None
) -> tuple[list[ChatEvent], ProviderError]:
    """What a streamed call brought before it failed, and how it failed."""
    events: list[ChatEvent] = []
    try:
        async for batch in wire.stream(call or request(), deadlines):
            events += batch
    except ProviderError as failure:
        return events, failure
    raise AssertionError("The call did not fail.")


def text_of(events: list[ChatEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def reasoning_of(events: list[ChatEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))
