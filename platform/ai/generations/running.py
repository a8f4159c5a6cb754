"""A streamed call while it runs, on the event loop of the process that has its job."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, ParamSpec, Protocol, TypeVar
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from msgspec.structs import replace

from ai.generations.endings import Output, View, conclude, give_up, release_readers
from ai.generations.types import Completion, completion_of
from ai.inference.chat import ChatRunner
from ai.inference.errors import CallCancelled, CallInterrupted
from ai.inference.services import admit, open_chat
from ai.inference.types import ChatCall
from ai.provider_health.errors import CallsKeepFailing, ProviderSuspended
from ai.providers.types import Delta
from billing.types import Ending, Resolution
from common.errors import DomainError
from common.threads import in_thread
from events.types import NewEvent
from work.jobs.models import Job
from work.jobs.running import JobLost, RunningJob

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class HasText(Protocol):
    """A part of what readers see of a call. Its text, which may be empty, counts in the offsets."""

    @property
    def text(self) -> str: ...


Part = TypeVar("Part", bound=HasText)

# Seconds between two appends of new text to the stream.
APPEND_SECONDS = 0.2
# Seconds before a call that waits for its provider looks again.
SUSPENDED_LOOK_SECONDS = 1.0
# Seconds before a step is repeated after the database has not answered.
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 10.0)


async def persist(step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a step in a thread, and repeat it until the database answers.

    Raises OperationalError or InterfaceError where the database stays away.
    """
    for pause in PAUSES:
        try:
            return await in_thread(step, *args, **kwargs)
        except (OperationalError, InterfaceError):
            log.warning("generation.step_repeated", step=getattr(step, "__name__", ""))
            await asyncio.sleep(pause)
    return await in_thread(step, *args, **kwargs)


class StreamedCall(ABC, Generic[View, Part]):
    """Makes a chat call for a job, appends its text to a stream, obeys the job's signals, and ends.

    `opened` is set when `runner` exists, or will never exist. `over` is set when `view`, the last
    state that readers are sent, exists, or when readers will see nothing more.
    """

    def __init__(
        self, output: Output[Any, View], job: RunningJob, call: ChatCall, *, stream_id: UUID
    ) -> None:
        self.runner: ChatRunner | None = None
        self.failure: DomainError | None = None
        self.view: View | None = None
        self.opened = asyncio.Event()
        self.over = asyncio.Event()
        self._output = output
        self._job = job
        self._id, self._attempt = job.id, job.attempt
        self._call = replace(call, conclude=self._conclude)
        self._stream_id = stream_id
        self._is_settling = False
        self._is_concluding = False
        self._collected = 0  # the deltas of the runner
        self._pending: list[Part] = []  # what is not in the stream yet
        self._offset = 0  # the number of code points in the stream
        self._appending = asyncio.Lock()

    # --- What each kind of call brings ------------------------------------------------------------

    @abstractmethod
    def delta_events(self, pieces: Sequence[Part], offset: int) -> list[NewEvent]:
        """The events of `pieces`; the first piece begins at code point `offset`."""

    @abstractmethod
    def shown(self, fresh: list[Delta]) -> list[Part]:
        """The part of the new deltas that readers see."""

    def completion(self, failure: DomainError | None) -> Completion:
        """The whole result of the call."""
        runner = self.runner
        if runner is None:
            return Completion(failure=failure)
        self._collect(runner)
        whole = completion_of(
            runner.text,
            reasoning=runner.reasoning,
            finish_reason=runner.finish_reason,
            failure=failure,
            tool_calls=runner.tool_calls,
        )
        return replace(whole, unsent=self.delta_events(self._pending, self._offset))

    # Does somebody beside this read the deltas of the call's runner?
    is_followed: ClassVar[bool] = False
    # Seconds that the call waits for a provider whose circuit is open, or that refuses this caller.
    patience = 0.0

    def on_opened(self, runner: ChatRunner) -> None:
        """Start the tasks beside the call."""

    async def while_held(self) -> None:
        """Do what follows from the hold of the call. Called repeatedly while the call runs."""

    async def before_end(self, failure: DomainError | None) -> None:
        """Wait for events that have to be in the stream before the end."""

    # --- Running ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Carry out the job."""
        try:
            await self._run()
        except DomainError as failure:
            self.failure = failure
            self.view = await persist(
                give_up, self._output, call_id=self._id, attempt=self._attempt, failure=failure
            )
        finally:
            self.opened.set()
            self.over.set()
            if not self.is_followed:
                self._let_go()

    def _let_go(self) -> None:
        """Drop the call and its runner, which have ended. The runner refers to this object: without
        this, prompt and text would wait for the garbage collector."""
        self.runner = None
        del self._call

    async def _run(self) -> None:
        """Raises the DomainError of a call that could not be concluded: the call was refused, or a
        fault of this service ended it."""
        runner = self.runner = await self._open()
        self.opened.set()
        self.on_opened(runner)
        self._job.on_signal(lambda: self._apply_job_signals(runner))
        while not runner.finished.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(APPEND_SECONDS):
                    await runner.finished.wait()
            self._apply_job_signals(runner)
            if runner.is_held:
                await self.while_held()
            await self._release_readers(runner)
            await self._append_pending(runner)
        if runner.error is not None and not self._is_concluding:
            raise runner.error

    async def _open(self) -> ChatRunner:
        """Open the call, as soon as its provider may be called. Raises the refusal of a provider
        that may not within `patience`, and CallCancelled, CallInterrupted."""
        give_up_at = time.monotonic() + self.patience
        while True:
            try:
                return await open_chat(self._call)
            except (ProviderSuspended, CallsKeepFailing):
                if time.monotonic() >= give_up_at:
                    raise
            await asyncio.sleep(SUSPENDED_LOOK_SECONDS)
            if self._job.lost:
                raise CallInterrupted
            if self._job.signal == Job.Signal.CANCEL:
                raise CallCancelled
            await admit()

    def _apply_job_signals(self, runner: ChatRunner) -> None:
        """Stop where another process has the job, or where the user cancels the call."""
        if self._job.lost:
            runner.stop(CallInterrupted())
        elif self._job.signal == Job.Signal.CANCEL and not self._is_settling:
            self.failure = CallCancelled()
            runner.cancel()

    async def _release_readers(self, runner: ChatRunner) -> None:
        """Do not let readers wait for a cancelled call. Where the call continues until its cost is
        known, the cost is the only event that readers still get."""
        async with self._appending:
            if not runner.is_winding_down or self._has_end:
                return
            completion = self.completion(CallCancelled())
            try:
                self.view = await in_thread(
                    release_readers,
                    self._output,
                    call_id=self._id,
                    attempt=self._attempt,
                    completion=completion,
                )
            except DatabaseError:
                log.warning("generation.readers_not_released", job_id=str(self._job.id))
                return
            self.over.set()

    # --- Appending --------------------------------------------------------------------------------

    async def _append_pending(self, runner: ChatRunner) -> None:
        """Append the deltas that are not in the stream yet. Waits while the database is away."""
        async with self._appending:
            self._collect(runner)
            if not self._has_end:
                pieces = self._pending[:]
                await self._append(runner, self.delta_events(pieces, self._offset))
                self._offset += sum(len(piece.text) for piece in pieces)
                self._pending = self._pending[len(pieces) :]

    async def append(self, runner: ChatRunner, events: list[NewEvent]) -> None:
        """Append events of another kind between the events of the text, unless the stream has its
        end."""
        async with self._appending:
            if not self._has_end:
                await self._append(runner, events)

    async def _append(self, runner: ChatRunner, events: list[NewEvent]) -> None:
        if not events or self._job.lost:
            return
        try:
            await self._job.append(self._stream_id, events, runner.checkpoint())
        except JobLost:
            runner.stop(CallInterrupted())

    def _collect(self, runner: ChatRunner) -> None:
        seen = self._collected
        fresh = runner.events[seen:] if self.is_followed else runner.take(seen)
        self._collected += len(fresh)
        self._pending += self.shown(fresh)

    @property
    def _has_end(self) -> bool:
        """Whether the end of the stream is written or being written."""
        return self._is_concluding or self.over.is_set()

    # --- Ending -----------------------------------------------------------------------------------

    async def _conclude(self, ending: Ending, failure: DomainError | None) -> Resolution:
        """End the call. Pending appends come before the end."""
        self._is_settling = True
        if self.runner is not None and self.runner.is_held:
            await self.while_held()
        await self.before_end(failure)
        async with self._appending:
            self._is_concluding = True
            ended = await in_thread(
                conclude,
                self._output,
                call_id=self._id,
                attempt=self._attempt,
                ending=ending,
                completion=self.completion(failure),
            )
        self._job.ended = True
        self.view = ended.view
        self.over.set()
        return ended.resolution


class LostCallHandler:
    """Ends the calls of lost jobs as interrupted, with the text in their streams."""

    def __init__(self, output: Output[Any, Any]) -> None:
        self._output = output

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End the call."""
        give_up(self._output, call_id=job_id, attempt=attempt, failure=CallInterrupted())
