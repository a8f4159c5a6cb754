"""A reply while it is written, on the event loop of the web process that took the request."""

import asyncio
import itertools
from contextlib import suppress
from typing import Any

import structlog
from django.db import Error as DatabaseError
from msgspec.structs import replace

from billing.types import Ending, Resolution
from common.errors import DomainError
from common.threads import in_thread
from conversations import events
from conversations.events import Piece
from conversations.services import outcomes
from conversations.services.outcomes import Said
from conversations.services.sending import Begun
from conversations.titles import make_title
from events.types import NewEvent
from inference.chat import ChatRunner
from inference.errors import CallCancelled, CallInterrupted, NoText
from inference.services import open_chat
from jobs.models import Job
from jobs.running import JobLost, RunningJob
from providers.types import Delta, TextDelta

log = structlog.get_logger(__name__)

# How often what has come is told.
DELTA_SECONDS = 0.2
# How long the end waits for the title.
TITLE_PATIENCE = 2.0


def pieces_of(deltas: list[Delta]) -> list[Piece]:
    """Deltas in order, neighbours of a kind joined."""
    return [
        Piece("text" if kind is TextDelta else "reasoning", "".join(each.text for each in same))
        for kind, same in itertools.groupby(deltas, key=type)
    ]


class Reply:
    """Makes the call, tells what comes of it, and ends with the charge, the text and the events.

    `opened` is set when there is a runner, or never will be; `over` when `message`, which is what
    `reply.ended` tells, is there, or nothing more will happen here that its user sees.
    """

    def __init__(self, begun: Begun) -> None:
        self.begun = begun
        self.title: str | None = None
        self.message: dict[str, Any] | None = None
        self.runner: ChatRunner | None = None
        self.failure: DomainError | None = None
        self.opened = asyncio.Event()
        self.over = asyncio.Event()
        self._job = begun.job
        self._is_settling = False
        self._concluding = False
        # All text stands in the deltas of the runner, and nowhere else.
        self._taken = 0  # of the deltas
        self._told = 0  # code points in the log
        self._telling = asyncio.Lock()
        self._titling: asyncio.Task[None] | None = None

    async def run(self, job: RunningJob) -> None:
        """Do the reply's job."""
        try:
            await self._run()
        except DomainError as failure:
            self.failure = failure
            self.message = await in_thread(
                outcomes.give_up, reply_id=job.id, attempt=job.attempt, failure=failure
            )
        finally:
            self.opened.set()
            self.over.set()
            if self._titling is not None:
                # Its call goes on, and so does what it writes.
                self._titling.cancel()

    async def _run(self) -> None:
        """Raises the DomainError of a call that could not be concluded: it was not begun, or a
        fault of ours ended it."""
        runner = await open_chat(replace(self.begun.call, conclude=self._conclude))
        self.runner = runner
        self.opened.set()
        if self.begun.is_first:
            self._titling = asyncio.create_task(self._entitle(runner))
        self._job.on_signal(lambda: self._heed(runner))
        while not runner.finished.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(DELTA_SECONDS):
                    await runner.finished.wait()
            self._heed(runner)
            await self._let_go(runner)
            await self._tell(runner)
        if runner.error is not None and not self._concluding:
            raise runner.error

    def _heed(self, runner: ChatRunner) -> None:
        """Stop, where the job is somebody else's, or the user cancels it."""
        if self._job.lost:
            runner.stop(CallInterrupted())
        elif self._job.signal == Job.Signal.CANCEL and not self._is_settling:
            self.failure = CallCancelled()
            runner.cancel()

    async def _let_go(self, runner: ChatRunner) -> None:
        """Do not let the user wait for a call that they do not want: where it goes on, they see no
        more of it than what it costs."""
        async with self._telling:
            if not runner.is_winding_down or self._is_told:
                return
            try:
                self.message = await in_thread(
                    outcomes.let_go,
                    reply_id=self._job.id,
                    attempt=self._job.attempt,
                    said=self.said(CallCancelled()),
                )
            except DatabaseError:
                log.warning("reply.not_let_go", reply_id=str(self._job.id))
                return
            self.over.set()

    # --- Telling ----------------------------------------------------------------------------------

    async def _tell(self, runner: ChatRunner) -> None:
        """Append what has come since the last time; while the database is away, this waits."""
        async with self._telling:
            taken = len(runner.events)
            told = self._untold(runner)
            if told and not self._is_told:
                await self._append(runner, told)
                self._told += sum(len(event.data["text"]) for event in told)
                self._taken = taken

    @property
    def _is_told(self) -> bool:
        """Does the log have its end, or is it on its way there?"""
        return self._concluding or self.over.is_set()

    def _untold(self, runner: ChatRunner) -> list[NewEvent]:
        """What is not in the log yet."""
        fresh = pieces_of(runner.events[self._taken :])
        return events.deltas(self.begun.call.model.id, fresh, self._told)

    async def _append(self, runner: ChatRunner, told: list[NewEvent]) -> None:
        if self._job.lost:
            return
        try:
            await self._job.append(self._job.id, told, runner.checkpoint())
        except JobLost:
            runner.stop(CallInterrupted())

    async def _entitle(self, runner: ChatRunner) -> None:
        """Have a title made once something has come, so that none is without anything billed; and
        tell it."""
        with suppress(DomainError):
            await runner.started()
        if not runner.events:
            return
        begun = self.begun
        title = await make_title(
            account_id=begun.call.account_id,
            question_id=begun.question.pk,
            message=begun.question.content,
            request_id=begun.call.request_id,
        )
        if title is None:
            return
        self.title = title
        async with self._telling:
            if not self._is_told:
                await self._append(runner, [events.title(title)])

    # --- Ending -----------------------------------------------------------------------------------

    async def _conclude(self, ending: Ending, failure: DomainError | None) -> Resolution:
        """What is on its way to the log comes before the end, and so does the title."""
        self._is_settling = True
        if self._titling is not None and self.runner and self.runner.events and failure is None:
            await asyncio.wait([self._titling], timeout=TITLE_PATIENCE)
        async with self._telling:
            self._concluding = True
            ended = await in_thread(
                outcomes.conclude,
                reply_id=self._job.id,
                attempt=self._job.attempt,
                ending=ending,
                said=self.said(failure),
            )
        self._job.ended = True
        self.message = ended.message
        self.over.set()
        return ended.resolution

    def said(self, failure: DomainError | None) -> Said:
        """What the reply has brought. One that ended well and has no text has failed."""
        runner = self.runner
        if runner is None:
            return Said(failure=failure)
        content = runner.text
        if failure is None and not content.strip():
            failure = NoText(finish_reason=runner.finish_reason)
        return Said(
            content=content,
            reasoning=runner.reasoning,
            finish_reason=runner.finish_reason,
            failure=failure,
            untold=self._untold(runner),
        )
