"""Carries out a council's calls, on the worker's event loop."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError

from billing.types import Ending, Resolution
from common.errors import DomainError
from common.threads import in_thread
from council import events
from council.services import outcomes
from council.services.outcomes import Prepared
from inference.chat import ChatRunner
from inference.errors import CallCancelled, CallInterrupted
from inference.services import open_chat
from inference.types import ChatCall
from jobs.models import Job
from jobs.running import JobLost, RunningJob
from providers.types import TextDelta

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# How often the text that has come is told.
DELTA_SECONDS = 0.2
TOTAL_SECONDS = 900.0
# Before a step is taken again that the database has not answered.
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 10.0)


class GenerationHandler:
    """Does the jobs of kind `council.generation`."""

    async def run(self, job: RunningJob) -> None:
        """Make the call and tell what comes of it."""
        try:
            prepared = await _surely(outcomes.prepare, job_id=job.id, attempt=job.attempt)
            if prepared is not None:
                await Call(job, prepared).run()
        except DomainError as failure:
            await _surely(outcomes.give_up, job_id=job.id, attempt=job.attempt, failure=failure)

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        """End the call as interrupted."""
        outcomes.give_up(job_id=job_id, attempt=attempt, failure=CallInterrupted())


async def _surely(step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Take a step that may be repeated, once the database is there.

    Raises OperationalError or InterfaceError where it stays away.
    """
    for pause in PAUSES:
        try:
            return await in_thread(step, *args, **kwargs)
        except (OperationalError, InterfaceError):
            log.warning("council.step_repeated", step=step.__name__)
            await asyncio.sleep(pause)
    return await in_thread(step, *args, **kwargs)


class Call:
    """One call: tells its text as it comes, and ends with its charge, its text and its events."""

    def __init__(self, job: RunningJob, prepared: Prepared) -> None:
        self._job = job
        self._version = prepared.version
        self._prepared = prepared
        self._generation = prepared.version.generation
        self._call = ChatCall(
            account_id=job.account_id,
            api_key_id=None,
            source="job",
            model=prepared.model,
            messages=prepared.messages,
            stream=True,
            request_id=str(job.id),
            total_seconds=TOTAL_SECONDS,
            charge_id=job.id,
            conclude=self._conclude,
        )
        self._concluding = False
        self._is_let_go = False
        self._text = ""
        self._taken = 0  # of the runner's deltas
        self._told = 0  # code points in the log
        self._telling = asyncio.Lock()

    async def run(self) -> None:
        """Raises the DomainError of a call that could not be concluded: it was refused, or a fault
        of ours ended it."""
        runner = self._runner = await open_chat(self._call)
        self._job.on_signal(self._heed)
        while not runner.finished.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(DELTA_SECONDS):
                    await runner.finished.wait()
            self._heed()
            await self._let_go(runner)
            await self._tell(runner)
        if runner.error is not None and not self._concluding:
            raise runner.error

    def _heed(self) -> None:
        """Stop, where the job is somebody else's, or the user cancels it."""
        if self._job.lost:
            self._runner.stop(CallInterrupted())
        elif self._job.signal == Job.Signal.CANCEL:
            self._runner.cancel()

    async def _let_go(self, runner: ChatRunner) -> None:
        """Do not let the user wait for a call that they do not want: where it goes on, they see no
        more of it than what it costs."""
        async with self._telling:
            if not runner.is_winding_down or self._is_told:
                return
            said = self._prepared.said(self._heard(), runner.finish_reason, CallCancelled())
            try:
                await in_thread(
                    outcomes.let_go, job_id=self._job.id, attempt=self._job.attempt, said=said
                )
            except DatabaseError:
                log.warning("council.not_let_go", job_id=str(self._job.id))
                return
            self._is_let_go = True

    @property
    def _is_told(self) -> bool:
        """Does the log have its end, or is it on its way there?"""
        return self._concluding or self._is_let_go

    async def _tell(self, runner: ChatRunner) -> None:
        """Append what has come since the last time; while the database is away, this waits."""
        async with self._telling:
            fresh = self._prepared.shown(self._heard())[self._told :]
            if not fresh or self._is_told or self._job.lost:
                return
            told = events.deltas(self._version, self._generation.model, fresh, self._told)
            try:
                await self._job.append(self._generation.session_id, told, runner.checkpoint())
                self._told += len(fresh)
            except JobLost:
                runner.stop(CallInterrupted())

    def _heard(self) -> str:
        """All text so far. Only what is new is joined, for long answers come in many pieces."""
        deltas = self._runner.events
        fresh = deltas[self._taken :]
        self._taken += len(fresh)
        self._text += "".join(delta.text for delta in fresh if isinstance(delta, TextDelta))
        return self._text

    async def _conclude(self, ending: Ending, failure: DomainError | None) -> Resolution:
        """What is on its way to the log comes before the end."""
        async with self._telling:
            self._concluding = True
            resolution = await in_thread(
                outcomes.conclude,
                job_id=self._job.id,
                attempt=self._job.attempt,
                ending=ending,
                said=self._prepared.said(self._heard(), self._runner.finish_reason, failure),
            )
        self._job.ended = True
        return resolution
