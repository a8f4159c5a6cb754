"""A chat call: the output that the provider streams, metered, and kept for a reader."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import groupby
from typing import cast
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from ai.catalog.types import TokenPrice
from ai.inference.errors import AnswerInterrupted, CallCancelled
from ai.inference.meter import Meter
from ai.inference.runner import CallRunner
from ai.inference.types import ChatAnswer, ChatCall
from ai.provider_health.permit import Permit
from ai.providers.types import (
    ChatEvent,
    ChatWire,
    Deadlines,
    Delta,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
    Words,
)
from billing.types import Checkpoint, Ending
from billing.units import Units
from common.errors import DomainError, ServiceUnavailable
from common.memory_budget import MemoryBudget

log = structlog.get_logger(__name__)

CHECKPOINT_SECONDS = 2.0
CHECKPOINT_TOKENS = 256
# Bytes that the pictures of the calls of one process take, and those of one account: each is also
# in the request, as base64, and in what is sent of that.
MAX_MEMORY = 384 * 1024 * 1024
MAX_MEMORY_OF_ACCOUNT = 128 * 1024 * 1024
_COPIES = 4

_memory = MemoryBudget(MAX_MEMORY)


class Ticker:
    """Calls `tick` periodically until it is stopped. The interval is in seconds."""

    def __init__(self, seconds: float, tick: Callable[[], None]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._timer = asyncio.get_running_loop().call_later(seconds, self._go)

    def stop(self) -> None:
        self._timer.cancel()

    def _go(self) -> None:
        self._tick()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._go)


class _Record(Struct, frozen=True):
    """A chat answer as it is stored. `interrupted`: the provider failed in the middle of the
    answer."""

    text: str
    reasoning: str
    answer: ChatAnswer
    interrupted: bool
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


_decode_record = msgspec.json.Decoder(_Record).decode


class ChatRunner(CallRunner[ChatCall, ChatAnswer]):
    """Runs one chat call. `events` grows while it runs."""

    answer_type = ChatAnswer

    def __init__(
        self,
        call: ChatCall,
        wire: ChatWire,
        permit: Permit,
        owner_id: UUID,
        on_progress: Callable[[], None],
    ) -> None:
        super().__init__(call, permit, owner_id)
        self.events: list[Delta] = []
        self._wire = wire
        self._price = cast(TokenPrice, call.model.price)
        self._meter = Meter(
            self._price,
            lambda: call.estimated_input,
            call.input_bound,
            call.output_bound,
        )
        self._on_progress = on_progress
        self._saved_progress = 0
        self._saved_at = time.monotonic()
        self._is_cancelled = False

    # --- The reader's side ------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """All text so far."""
        return self._joined(TextDelta)

    @property
    def reasoning(self) -> str:
        """All reasoning so far."""
        return self._joined(ReasoningDelta)

    @property
    def refusal(self) -> str:
        """The sentence with which the model declines, so far."""
        return self._joined(RefusalDelta)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that the model asks for, so far."""
        pieces: dict[int, list[ToolCallDelta]] = {}
        for event in self.events:
            if isinstance(event, ToolCallDelta):
                pieces.setdefault(event.index, []).append(event)
        return tuple(
            ToolCall(first.id, first.name, "".join(piece.text for piece in (first, *others)))
            for first, *others in pieces.values()
        )

    @property
    def finish_reason(self) -> FinishReason:
        """Why the model stopped; `stop` for a model that gives no reason."""
        return self._meter.finish_reason or "stop"

    async def started(self) -> None:
        """Wait for the first output. Raises the DomainError of a call that ended before any
        output."""
        while not self.events and not self._ended:
            await self._change()
        if not self.events and self.error is not None:
            raise self.error

    def begin(self) -> None:
        """Let the reader of a stream begin, although its text comes later."""
        self.events.append(TextDelta(""))
        self._wake()

    def cancel(self) -> None:
        """Cancel the call for its user: nothing is added to `events` from now on, and every
        `stream` ends.

        The call ends as soon as it can be billed. That is now, unless the provider has only read
        the input so far: then the call ends with its first output. The provider counts hidden
        reasoning only at the end of a call; a call that may have hidden reasoning is read to its
        end.
        """
        if not self._is_cancelled:
            self._is_cancelled = True
            self._stopped_by = self._stopped_by or CallCancelled()
            self._wake()
            if self._can_be_billed:
                self.stop(CallCancelled())

    def checkpoint(self) -> Checkpoint:
        """The progress of the call, for a caller that saves the progress with the text in one
        transaction. The progress then counts as saved."""
        self._saved_progress, self._saved_at = self._meter.progress, time.monotonic()
        return Checkpoint(self.charge_id, _units(self._meter.usage), self._meter.cost)

    @property
    def is_winding_down(self) -> bool:
        """Whether the call continues although it was cancelled."""
        return self._is_cancelled and self._reading is not None

    async def stream(self, keepalive_seconds: float) -> AsyncGenerator[list[Delta], None]:
        """All deltas from the first on, as they come; an empty batch after each silence of at least
        `keepalive_seconds`, and less than twice that. Ends with the call, or when it is
        cancelled."""
        loop = asyncio.get_running_loop()
        seen, seen_at = 0, loop.time()
        # One timer that wakes the reader now and then costs less than a timeout for every delta.
        ticker = Ticker(keepalive_seconds, self._wake)
        try:
            while True:
                if seen < len(self.events):
                    fresh = self.events[seen:]
                    seen, seen_at = len(self.events), loop.time()
                    yield fresh
                elif self._ended or self._is_cancelled:
                    return
                elif loop.time() - seen_at >= keepalive_seconds:
                    seen_at = loop.time()
                    yield []
                else:
                    await self._change()
        finally:
            ticker.stop()

    def take(self, seen: int) -> list[Delta]:
        """The deltas after the first `seen`, for the only reader of a call. Words of one kind that
        follow each other are joined, in `events` too: there each delta takes a hundred bytes beside
        its text."""
        fresh: list[Delta] = []
        for kind, same in groupby(self.events[seen:], key=type):
            if issubclass(kind, Words):
                fresh.append(kind("".join(each.text for each in same)))
            else:
                fresh += same
        self.events[seen:] = fresh
        return fresh

    # --- Steps of the runner ----------------------------------------------------------------------

    @property
    def has_output(self) -> bool:
        return self._meter.has_output

    def progress_to_save(self) -> Checkpoint | None:
        fresh = self._meter.progress - self._saved_progress
        now = time.monotonic()
        if not fresh or (fresh < CHECKPOINT_TOKENS and now - self._saved_at < CHECKPOINT_SECONDS):
            return None
        return self.checkpoint()

    async def _run(self) -> None:
        """Run the call if there is memory for its pictures."""
        shown = [
            image for message in self.call.messages if message.parts for image in message.images
        ]
        with _memory.share(str(self.call.account_id), MAX_MEMORY_OF_ACCOUNT) as share:
            try:
                share.reserve(_COPIES * sum(len(image.data) for image in shown))
            except ServiceUnavailable as refusal:
                self.refuse(refusal)
                return
            await super()._run()

    async def _call_provider(self, seconds: float) -> None:
        call, request = self.call, self.call.request
        deadlines = Deadlines(first_byte=300.0 if call.model.reasoning else 90.0, total=seconds)
        if call.stream:
            async with aclosing(self._wire.stream(request, deadlines)) as batches:
                async for batch in batches:
                    self._take(batch)
                    if self._meter.is_overrun:
                        self._meter.cut()
                        break
        else:
            self._take(await self._wire.complete(request, deadlines))
        if self._meter.is_cut:
            self._meter.cut()
            log.warning("provider.overran_its_bound", model=call.model.id)

    def _take(self, batch: list[ChatEvent]) -> None:
        """Raises CallCancelled once a cancelled call can be billed."""
        fresh = self._meter.take(batch)
        if fresh and self._first_output_at is None:
            self._first_output_at = time.monotonic()
            self._permit.answered()
        if self._meter.progress - self._saved_progress >= CHECKPOINT_TOKENS:
            self._on_progress()
        if self._is_cancelled:
            if self._can_be_billed:
                raise CallCancelled
        elif fresh:
            self.events += fresh
            self._wake()

    @property
    def _can_be_billed(self) -> bool:
        """Whether the number of tokens produced is known."""
        call = self.call
        reasons = call.reasoning_effort is not None or call.model.reasons_unasked
        is_seen = self._wire.shows_reasoning or not reasons
        return self.has_output and (is_seen or self._meter.is_counted)

    def _joined(self, kind: type[Words]) -> str:
        return "".join(event.text for event in self.events if isinstance(event, kind))

    def _outcome(self) -> tuple[ChatAnswer, Ending] | None:
        if not self._meter.has_output:
            return None
        if self._meter.counts_nothing:
            log.warning("provider.counted_nothing", model=self.call.model.id)
        usage = self._meter.usage
        units: Units = {**_units(usage), "reasoning_tokens": usage.reasoning_tokens}
        answer = ChatAnswer(self.finish_reason, usage)
        return answer, self._settlement(self._meter.cost, units)

    def _record(self, answer: ChatAnswer, error: DomainError | None) -> bytes:
        record = _Record(
            self.text,
            self.reasoning,
            answer,
            interrupted=error is not None,
            refusal=self.refusal,
            tool_calls=self.tool_calls,
        )
        return msgspec.json.encode(record)

    def _restore(self, record: bytes) -> tuple[DomainError | None, ChatAnswer]:
        stored = _decode_record(record)
        self.events += [ReasoningDelta(stored.reasoning)] if stored.reasoning else []
        self.events += [TextDelta(stored.text)] if stored.text else []
        self.events += [RefusalDelta(stored.refusal)] if stored.refusal else []
        self.events += [
            ToolCallDelta(index, call.arguments, call.id, call.name)
            for index, call in enumerate(stored.tool_calls)
        ]
        return AnswerInterrupted() if stored.interrupted else None, stored.answer


def _units(usage: Usage) -> Units:
    return {
        "tokens_in": usage.input_tokens,
        "tokens_out": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }
