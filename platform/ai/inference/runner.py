"""One provider call, from hold to settle, in a task of its own that outlives its reader.

The caller's request handler only waits for what the runner brings. When the client hangs up, the
reader stops; the runner reads the provider to the end and settles: what is produced is paid.
"""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from typing import Generic, TypeVar, cast
from uuid import UUID

import msgspec
from msgspec.structs import replace

from ai.inference import holds, reports, retries, settlement
from ai.inference.errors import AnswerInterrupted, ProviderFails, UpstreamFailed, meaning_of
from ai.inference.metrics import Steps
from ai.inference.types import Call
from ai.provider_health.permit import Permit
from ai.providers.errors import ProviderError
from billing.errors import ChargeResolved
from billing.services import charges
from billing.types import Checkpoint, Ending, Resolution, StoredAnswer, UndeliveredCall
from billing.units import Units
from common.database import DatabaseUnavailable
from common.errors import DomainError, ServiceUnavailable
from common.ids import uuid7
from observability.tracing import spans

# The answer waits this long for the settlement; then it goes out, and settling goes on.
SETTLE_TIMEOUT = 2.0
# A provider that is given less has not failed when it does not answer in time.
PATIENT_SECONDS = 60.0
# Seconds before the end of a call that belong to the end.
NEARLY = 0.5

AnyCall = TypeVar("AnyCall", bound=Call)
Answer = TypeVar("Answer", bound=msgspec.Struct)


class CallRunner(ABC, Generic[AnyCall, Answer]):
    """Runs one call. `answer` or `error` is set when it has ended; `billed` is what the customer
    paid, in nano-USD, once that is known.

    `finished` is set when nothing more will happen: that may be later, while the database is away.

    `owner_id` is the owner of the charge: this process, or the job that held for the call. `permit`
    is told what the provider does, and released when the call has ended. `answer_type` is the type
    of its answers.

    A call that had been made before (`Call.request_key`) brings its stored answer, under the charge
    that paid for it; `replayed` is then set.
    """

    answer_type: type[Answer]

    def __init__(self, call: AnyCall, permit: Permit, owner_id: UUID) -> None:
        self.charge_id = call.charge_id or uuid7()
        self.call = call
        self.answer: Answer | None = None
        self.error: DomainError | None = None
        self.billed: int | None = None
        self.replayed = False
        self.finished = asyncio.Event()
        self.owner_id = owner_id
        self._permit = permit
        self._changed = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._stopped_by: DomainError | None = None
        self._attempts = 0
        self._cause: ProviderError | None = None  # of the failure that ended the call
        self._undelivered: UndeliveredCall | None = None
        self._is_resolving = False
        # The answer that was billed, and the failure that came after it.
        self._settled: tuple[Answer, DomainError | None] | None = None
        self._started_at = time.monotonic()
        self._first_output_at: float | None = None
        # When the provider is first called, and when its last answer has ended.
        self._asked_at: float | None = None
        self._answered_at = 0.0

    # --- What each kind of call brings ------------------------------------------------------------

    @abstractmethod
    async def _call_provider(self, seconds: float) -> None:
        """Make the call, which may take so long, and keep what it brings.

        Raises ProviderErrors, and DomainErrors for faults of ours.
        """

    @abstractmethod
    def _outcome(self) -> tuple[Answer, Ending] | None:
        """The answer so far, and its `_settlement`; None where there is nothing to bill."""

    def _record(self, answer: Answer, _error: DomainError | None) -> bytes:
        """The answer as it is stored for those who send the call again."""
        return msgspec.json.encode(answer)

    def _restore(self, record: bytes) -> tuple[DomainError | None, Answer]:
        """What `_record` made, put back in place."""
        return None, msgspec.json.decode(record, type=self.answer_type)

    @property
    def has_output(self) -> bool:
        """Has anything come that the caller may have seen?"""
        return False

    def progress_to_save(self) -> Checkpoint | None:
        """The checkpoint that is due, if one is; it then counts as saved."""
        return None

    # --- The reader's side ------------------------------------------------------------------------

    async def ended(self) -> Answer:
        """Wait for the end. Raises the DomainError of a call that failed, output or not."""
        while not self._ended:
            await self._change()
        if self.error is not None:
            raise self.error
        return cast(Answer, self.answer)

    def keep_answer(self, undelivered: UndeliveredCall) -> bool:
        """The caller has gone: the settlement keeps the answer. False where it is too late for
        that; then `settled_record` has the answer once the call is `finished`."""
        if self._is_resolving or self.finished.is_set():
            return False
        self._undelivered = undelivered
        return True

    def settled_record(self) -> bytes | None:
        """The answer as it is stored, if the call was billed."""
        return self._record(*self._settled) if self._settled else None

    def replay(self, stored: StoredAnswer) -> None:
        """Bring the stored answer of a call that was made before, instead of a call."""
        self.charge_id, self.billed, self.replayed = stored.charge_id, stored.billed, True
        self._end(*self._restore(stored.answer))
        self._report("replayed")

    # --- The runtime's side -----------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        """Is the call paid for, so that it is being made, or was?"""
        return self._asked_at is not None

    @property
    def is_probe(self) -> bool:
        """Is it the platform's own call, which tells how the provider is?"""
        return self._permit.is_probe

    def suspect_if_silent(self, seconds: float) -> None:
        """Let the call cause a probe where nothing has come of it for so long."""
        if self._is_silent and time.monotonic() - cast(float, self._asked_at) >= seconds:
            self._permit.suspect()

    def stop_if_silent(self) -> bool:
        """Stop a call whose provider has fallen silent for everybody, if nothing has come of it.
        Returns whether it was stopped."""
        if not self._is_silent:
            return False
        self.stop(ProviderFails(retry_after=self._seconds_to_wait()))
        return True

    def stop(self, reason: DomainError) -> None:
        """Stop reading the provider; what was produced is settled, and the reader gets `reason`.

        Only reading is cut short: a hold or a settlement on its way is never cancelled.
        """
        self._stopped_by = self._stopped_by or reason
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()

    def refuse(self, refusal: DomainError) -> None:
        """End the call before anything is held."""
        self._end(refusal)
        self._report("refused")

    def crash(self) -> None:
        """Tell the reader that the call ended by a fault of ours."""
        self._end(ServiceUnavailable())
        self._report("open")

    async def run(self) -> None:
        """Hold, unless that was done, call, meter, settle. Never raises; how it went is in `answer`
        or `error`."""
        try:
            await self._run()
        finally:
            self._permit.release()

    async def _run(self) -> None:
        try:
            stored = await self._hold()
        except DomainError as refusal:
            self.refuse(refusal)
            # A hold that came to be although nobody heard of it is found later, because no runner
            # knows it any more. One that has a name keeps it until then: that may be longer than
            # its client tries again.
            if self.call.request_key and isinstance(refusal, DatabaseUnavailable):
                explained = reports.explain(self.call, refusal, None, self._attempts)
                await self._carry_out(replace(self._release(), failure=explained))
            return
        if stored is not None:
            self.replay(stored)
            return
        failure: DomainError | None = None
        self._asked_at = time.monotonic()
        try:
            if self._stopped_by is None:
                self._reading = asyncio.current_task()
                await self._attempt()
        except ProviderError as error:
            failure = self._explain(error)
        except DomainError as error:
            failure = error
        except asyncio.CancelledError:
            if self._stopped_by is None:
                raise
            cast("asyncio.Task[None]", asyncio.current_task()).uncancel()
        finally:
            self._reading = None
            self._answered_at = time.monotonic()
            self._permit.release()
        await self._resolve(self._stopped_by or failure)

    # --- The steps --------------------------------------------------------------------------------

    async def _hold(self) -> StoredAnswer | None:
        """Hold, or make sure of a hold that waited with its job. Raises ChargeResolved where that
        one is gone."""
        held_by = self.call.held_by
        if held_by is None:
            request = holds.hold_request(self.call, self.owner_id, charge_id=self.charge_id)
            return await charges.hold(request, self.call.request_key)
        if held_by != self.owner_id:
            self.owner_id = held_by
            seconds = holds.deadline_seconds(self.call)
            if not await charges.begin(self.charge_id, held_by, seconds=seconds):
                raise ChargeResolved
        return None

    async def _attempt(self) -> None:
        """Call the provider; again where it failed in passing and nothing has come of it."""
        ends_at = time.monotonic() + self.call.total_seconds
        while (pause := await self._try(ends_at)) is not None:
            await asyncio.sleep(pause)
            if self._stopped_by is not None:
                return
            if not self._permit.may_be_repeated:
                raise ProviderFails(retry_after=self._seconds_to_wait())

    async def _try(self, ends_at: float) -> float | None:
        """Call the provider. None where that went well, or the seconds until the next attempt."""
        self._attempts += 1
        began_at = time.monotonic()
        try:
            await self._traced_call(ends_at - began_at)
        except ProviderError as error:
            is_over = self.has_output or self._stopped_by is not None
            is_over = is_over or not self._permit.may_be_repeated
            pause = None if is_over else retries.pause_after(error, self._attempts)
            again = pause is not None and time.monotonic() + pause <= ends_at
            self._note_failure(error, ends_at, again=again)
            if not again:
                raise
            self._cause = error
            reports.report_failure(self.call, error, after_output=False, again=True)
            return pause
        first = self._first_output_at
        self._permit.served(
            first=first - began_at if first else None, total=time.monotonic() - began_at
        )
        return None

    async def _traced_call(self, seconds: float) -> None:
        call = self.call
        with spans.span(
            f"{call.kind} {call.model.id}",
            span_kind="client",
            provider=call.model.provider,
            model=call.model.id,
            kind=call.kind,
            attempt=self._attempts,
            request_id=call.request_id,
        ) as span:
            try:
                await self._call_provider(seconds)
            except ProviderError as error:
                span.set(http_status=error.status)
                span.fail(meaning_of(error).code)
                raise

    def _note_failure(self, error: ProviderError, ends_at: float, *, again: bool) -> None:
        """A provider that had less time than it may take, or that answers to the end of the time,
        has not failed."""
        is_out_of_time = self.has_output and time.monotonic() >= ends_at - NEARLY
        was_patient = self.call.total_seconds >= PATIENT_SECONDS and not is_out_of_time
        self._permit.failed(error, self.call.request_id, was_patient=was_patient, again=again)

    def _explain(self, error: ProviderError) -> DomainError:
        """What a provider's failure means to the caller."""
        self._cause = error
        reports.report_failure(self.call, error, after_output=self.has_output, again=False)
        if self.has_output:
            return AnswerInterrupted()
        meaning = meaning_of(error)
        if type(meaning) is UpstreamFailed and not self._permit.may_be_repeated:
            return ProviderFails(retry_after=self._seconds_to_wait())
        return meaning

    def _seconds_to_wait(self) -> int:
        return max(1, math.ceil(self._permit.wait))

    async def _resolve(self, failure: DomainError | None) -> None:
        """Settle what came out, or release the hold; then tell the reader how it went.

        The reader waits for the money, but not for ever: while the database is away the answer goes
        out after SETTLE_TIMEOUT, and this goes on.
        """
        outcome = self._outcome()
        if outcome is None:
            failure, answer = failure or UpstreamFailed(), None
            ending = self._release()
        else:
            answer, ending = outcome
        if failure is not None:
            cause = None if failure is self._stopped_by else self._cause
            explained = reports.explain(self.call, failure, cause, self._attempts)
            ending = replace(ending, failure=explained)
        self._is_resolving = True
        is_kept = self.call.request_key or self._undelivered
        record = self._record(answer, failure) if answer and is_kept else None
        timer = asyncio.get_running_loop().call_later(SETTLE_TIMEOUT, self._end, failure, answer)
        try:
            resolution = await self._carry_out(ending, failure, record)
            if answer and resolution:
                self.billed = resolution.billed
                if resolution.taken_over:
                    failure = ChargeResolved()
                else:
                    self._settled = answer, failure
        finally:
            timer.cancel()
            self._end(failure, answer)
        self._report(resolution.status if resolution else "open", ending, resolution)

    async def _carry_out(
        self, ending: Ending, failure: DomainError | None = None, record: bytes | None = None
    ) -> Resolution | None:
        call = self.call
        if (conclude := call.conclude) is not None:
            return await settlement.carry_out(ending, lambda: conclude(ending, failure))
        return await settlement.carry_out(
            ending,
            lambda: charges.resolve(
                ending, call.request_key, record, undelivered=self._undelivered
            ),
        )

    def _settlement(self, cost: int, units: Units) -> Ending:
        return Ending(self.charge_id, self.call.account_id, "settled", cost, units)

    def _release(self) -> Ending:
        return Ending(self.charge_id, self.call.account_id, "released")

    def _report(
        self, status: str, ending: Ending | None = None, resolution: Resolution | None = None
    ) -> None:
        """Count and log the end of the call. Its reader has the end already."""
        now, first = time.monotonic(), self._first_output_at
        reports.report_end(
            self.call,
            self.charge_id,
            status=status,
            error=self.error,
            attempts=self._attempts,
            ending=ending,
            resolution=resolution,
            first_output_seconds=first - self._started_at if first else None,
            total_seconds=now - self._started_at,
            steps=self._steps(now),
        )

    def _steps(self, now: float) -> Steps | None:
        if self._asked_at is None or not self._attempts:
            return None
        return Steps(
            hold=self._asked_at - self._started_at,
            provider=self._answered_at - self._asked_at,
            settle=now - self._answered_at,
        )

    @property
    def _is_silent(self) -> bool:
        """Is the provider called, and has nothing come yet?"""
        return self._reading is not None and not self.has_output and self._stopped_by is None

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
