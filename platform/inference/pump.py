"""One provider call, from hold to settle, in a task of its own that outlives its reader.

The caller's request handler only reads what the pump has collected. When the client hangs up, the
reader stops; the pump reads the provider to the end and settles, because what is produced is paid.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import cast
from uuid import UUID

import structlog

from billing.errors import ChargeResolved
from billing.services import charges
from billing.types import Checkpoint, Ending, HoldRequest
from catalog.pricing import token_cost
from catalog.types import TokenPrice
from common.errors import DomainError, ServiceUnavailable
from common.ids import uuid7
from inference import settlement
from inference.errors import (
    AnswerInterrupted,
    InputTooLong,
    ProviderNotAvailable,
    RequestRefusedByProvider,
    UpstreamFailed,
)
from inference.meter import Meter
from inference.types import Answer, ChatCall
from providers.errors import ProviderError, ProviderUnavailable, RequestRefused
from providers.tokens import estimate_input, input_upper_bound
from providers.types import ChatEvent, ChatRequest, ChatWire, Deadlines, Delta, Usage

log = structlog.get_logger(__name__)

# A charge's deadline lies this many seconds after the last moment its call may take.
GRACE_SECONDS = 60
# The final chunk waits this long for the settlement; then it goes out, and settling goes on.
SETTLE_PATIENCE = 2.0
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_TOKENS = 256


class Ticker:
    """Calls `tick` every so many seconds until it is stopped."""

    def __init__(self, seconds: float, tick: Callable[[], None]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._timer = asyncio.get_running_loop().call_later(seconds, self._go)

    def stop(self) -> None:
        self._timer.cancel()

    def _go(self) -> None:
        self._tick()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._go)


class Pump:
    """Runs one chat call. `events` grows while it runs; `answer` or `error` is set when it ends."""

    def __init__(
        self,
        call: ChatCall,
        wire: ChatWire,
        owner_id: UUID,
        on_progress: Callable[[], None],
    ) -> None:
        self.charge_id = uuid7()
        self.call = call
        self.events: list[Delta] = []
        self.answer: Answer | None = None
        self.error: DomainError | None = None
        self._wire = wire
        self._owner_id = owner_id
        self._price = cast(TokenPrice, call.model.price)
        self._input_bound = input_upper_bound(call.messages, call.model.prompt_overhead_tokens)
        self._meter = Meter(
            self._price, estimate_input(call.messages), self._input_bound, call.output_bound
        )
        self._on_progress = on_progress
        self._changed = asyncio.Event()
        self._saved_deltas = 0
        self._saved_at = time.monotonic()
        self._reading: asyncio.Task[None] | None = None
        self._stopped_by: DomainError | None = None

    # --- The reader's side ------------------------------------------------------------------------

    async def started(self) -> None:
        """Wait for the first output. Raises the DomainError of a call that ended before any."""
        while not self.events and not self._ended:
            await self._change()
        if not self.events and self.error is not None:
            raise self.error

    async def batches(self, patience: float) -> AsyncIterator[list[Delta]]:
        """All deltas from the first on, as they come; an empty batch after each silence of at least
        `patience` seconds, and less than twice that. Ends when the call has ended."""
        loop = asyncio.get_running_loop()
        seen, seen_at = 0, loop.time()
        # One timer that wakes the reader now and then costs less than a timeout for every delta.
        ticker = Ticker(patience, self._wake)
        try:
            while True:
                if seen < len(self.events):
                    fresh = self.events[seen:]
                    seen, seen_at = len(self.events), loop.time()
                    yield fresh
                elif self._ended:
                    return
                elif loop.time() - seen_at >= patience:
                    seen_at = loop.time()
                    yield []
                else:
                    await self._change()
        finally:
            ticker.stop()

    async def ended(self) -> Answer:
        """Wait for the end. Raises the DomainError of a call that failed, output or not."""
        while not self._ended:
            await self._change()
        if self.error is not None:
            raise self.error
        return cast(Answer, self.answer)

    # --- The runtime's side -----------------------------------------------------------------------

    def progress_to_save(self) -> Checkpoint | None:
        """The checkpoint that is due, if one is; it then counts as saved."""
        fresh = self._meter.deltas - self._saved_deltas
        now = time.monotonic()
        if not fresh or (fresh < CHECKPOINT_TOKENS and now - self._saved_at < CHECKPOINT_SECONDS):
            return None
        self._saved_deltas, self._saved_at = self._meter.deltas, now
        usage = self._meter.usage
        return Checkpoint(self.charge_id, usage.input_tokens, usage.output_tokens, self._meter.cost)

    def stop(self, reason: DomainError) -> None:
        """Stop reading the provider; what was produced is settled, and the reader gets `reason`.

        Only reading is cut short: a hold or a settlement on its way is never cancelled.
        """
        if self._stopped_by is None:
            self._stopped_by = reason
            if self._reading is not None:
                self._reading.cancel()

    def crash(self) -> None:
        """Tell the reader that the call ended by a fault of ours."""
        self._end(ServiceUnavailable())

    async def run(self) -> None:
        """Hold, call, meter, settle. Never raises; how it went is in `answer` or `error`."""
        try:
            await charges.hold(self._hold_request())
        except DomainError as refusal:
            # An unknown outcome needs no care here: a hold that came to be after all is found by
            # the next heartbeats, because no pump knows it any more.
            self._end(refusal)
            return
        failure = self._stopped_by
        try:
            if failure is None:
                await self._read_provider()
        except ProviderError as error:
            failure = self._explain(error)
        except asyncio.CancelledError:
            if self._stopped_by is None:
                raise
            cast("asyncio.Task[None]", asyncio.current_task()).uncancel()
            failure = self._stopped_by
        finally:
            self._reading = None
        await self._resolve(failure)

    # --- The steps --------------------------------------------------------------------------------

    def _hold_request(self) -> HoldRequest:
        call, model = self.call, self.call.model
        return HoldRequest(
            charge_id=self.charge_id,
            account_id=call.account_id,
            api_key_id=call.api_key_id,
            model_id=model.id,
            price_version_id=self._price.version_id,
            source=call.source,
            kind="chat",
            worst_cost=token_cost(self._price, self._input_bound, call.output_bound),
            owner_id=self._owner_id,
            seconds=int(call.total_seconds) + GRACE_SECONDS,
            request_id=call.request_id,
        )

    async def _read_provider(self) -> None:
        call = self.call
        request = ChatRequest(
            call.model.upstream_model, call.messages, call.output_bound, call.reasoning_effort
        )
        deadlines = Deadlines(
            first_byte=300.0 if call.model.reasoning else 90.0, total=call.total_seconds
        )
        self._reading = asyncio.current_task()
        if call.stream:
            async for batch in self._wire.stream(request, deadlines):
                self._take(batch)
        else:
            self._take(await self._wire.complete(request, deadlines))

    def _take(self, batch: list[ChatEvent]) -> None:
        fresh = self._meter.take(batch)
        if fresh:
            self.events += fresh
            self._wake()
            if self._meter.deltas - self._saved_deltas >= CHECKPOINT_TOKENS:
                self._on_progress()

    def _explain(self, error: ProviderError) -> DomainError:
        """What a provider's failure means to the caller."""
        log.warning(
            "provider.failed",
            provider=self.call.model.provider,
            model=self.call.model.id,
            request_id=self.call.request_id,
            error=str(error),
            after_output=self._meter.has_output,
        )
        if self._meter.has_output:
            return AnswerInterrupted()
        if isinstance(error, RequestRefused):
            return InputTooLong() if error.too_long else RequestRefusedByProvider(str(error))
        return (
            ProviderNotAvailable() if isinstance(error, ProviderUnavailable) else UpstreamFailed()
        )

    async def _resolve(self, failure: DomainError | None) -> None:
        """Settle what came out, or release the hold; then tell the reader how it went.

        The reader waits for the money, but not for ever: while the database is away the answer goes
        out after SETTLE_PATIENCE, and this goes on.
        """
        usage = self._meter.usage
        answer: Answer | None = None
        if self._meter.has_output:
            answer = Answer(self._meter.finish_reason or "stop", usage)
        else:
            failure = failure or UpstreamFailed()
        patience = asyncio.get_running_loop().call_later(
            SETTLE_PATIENCE, self._end, failure, answer
        )
        try:
            resolution = await settlement.carry_out(self._ending(usage if answer else None))
            if answer and resolution and resolution.taken_over:
                failure = ChargeResolved()
        finally:
            patience.cancel()
            self._end(failure, answer)

    def _ending(self, usage: Usage | None) -> Ending:
        """`usage` is None where nothing is to be billed."""
        if usage is None:
            return Ending(self.charge_id, self.call.account_id, "released")
        return Ending(
            self.charge_id,
            self.call.account_id,
            "settled",
            self._meter.cost,
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        )

    # --- Telling the reader -----------------------------------------------------------------------

    @property
    def _ended(self) -> bool:
        return self.answer is not None or self.error is not None

    def _end(self, error: DomainError | None, answer: Answer | None = None) -> None:
        if self._ended:
            return
        self.error = error
        self.answer = None if error else answer
        self._wake()

    def _wake(self) -> None:
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
