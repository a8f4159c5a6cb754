"""Carries out the steps of runs, on the worker's event loop."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.db import Error as DatabaseError
from msgspec.structs import replace

from ai.generations.endings import give_up
from ai.generations.running import LostCallHandler, StreamedCall, persist
from ai.generations.types import TOTAL_SECONDS, Completion
from ai.inference.errors import NoText
from ai.inference.types import ChatCall
from ai.providers.types import Delta, TextDelta
from common.errors import DomainError
from common.threads import in_outside_thread, in_thread
from events.types import NewEvent
from projects import events
from projects.author_tools.arguments import FINISH
from projects.errors import RepositoryUnavailable
from projects.services.checks import check_answer, may_have_files
from projects.services.completion import STEP
from projects.services.messages import mark_delivered
from projects.services.preparation import Prepared, SourcesNotRead, prepare
from projects.services.sources import read_sources
from projects.shown_text import Shown
from projects.types import SHOWN, StepKind
from work.jobs.handlers import Handler
from work.jobs.running import RunningJob

# How often files are read for a step: its subtask may be changed meanwhile.
_MAX_READS = 3


class StepHandler(LostCallHandler, Handler):
    """Does the jobs of kind `projects.step`. A lost step ends: the run decides what follows."""

    def __init__(self) -> None:
        super().__init__(STEP)

    async def run(self, job: RunningJob) -> None:
        """Make the call, unless it must not be made any more."""
        try:
            call = await self._prepare(job)
        except DomainError as failure:
            await persist(give_up, STEP, call_id=job.id, attempt=job.attempt, failure=failure)
            return
        if call is not None:
            await call.run()

    async def _prepare(self, job: RunningJob) -> "StepCall | None":
        """Read what the step needs of the repository before it begins."""
        for _ in range(_MAX_READS):
            try:
                prepared = await persist(prepare, job_id=job.id, attempt=job.attempt)
                return StepCall(job, prepared) if prepared is not None else None
            except SourcesNotRead:
                await in_outside_thread(read_sources, job.id)
        raise RepositoryUnavailable


def call_of(prepared: Prepared, *, account_id: UUID) -> ChatCall:
    """The call of a step, whose id is also that of its charge."""
    step_id = prepared.step.pk
    return ChatCall(
        account_id=account_id,
        api_key_id=None,
        source="job",
        model=prepared.model,
        messages=prepared.messages,
        tools=prepared.tools,
        max_output_tokens=prepared.max_output_tokens,
        stream=True,
        request_id=prepared.step.run.request_id or str(step_id),
        total_seconds=TOTAL_SECONDS,
        charge_id=step_id,
        group_id=prepared.group_id,
    )


class StepCall(StreamedCall[None, Shown]):
    """The call of a step, of which nothing else is kept: a run has several at a time, and each of
    their steps has read all rows of the run. Its reasoning is not shown. Nobody waits for it: it
    waits for a provider that is spared for a while."""

    def __init__(self, job: RunningJob, prepared: Prepared) -> None:
        call = call_of(prepared, account_id=job.account_id)
        super().__init__(STEP, job, call, stream_id=prepared.step.run_id)
        self._place = events.place_of(prepared.step)
        self._kind = prepared.step.kind
        self._is_continuing = prepared.step.continues_id is not None
        self._reader = prepared.reader
        self._offset = prepared.offset
        self._undelivered = prepared.newest
        self._delivering = asyncio.Lock()
        self.patience = prepared.patience

    def completion(self, failure: DomainError | None) -> Completion:
        """The whole result. A model that has nothing to add to a cut answer has not failed."""
        whole = super().completion(failure)
        if isinstance(whole.failure, NoText) and self._is_continuing:
            return replace(whole, failure=None)
        return whole

    async def while_held(self) -> None:
        """Tell that the messages in the prompt are sent. Where the database is away, that is tried
        again, and otherwise left to the next call that has them."""
        async with self._delivering:
            if self._undelivered:
                with suppress(DatabaseError):
                    await in_thread(mark_delivered, step_id=self._id, up_to=self._undelivered)
                    self._undelivered = 0

    async def before_end(self, failure: DomainError | None) -> None:
        """Check the files of an author that has finished, before the run is held for the end."""
        runner = self.runner
        if runner is None or failure is not None or self._kind != StepKind.WORK:
            return
        text, calls = runner.text, runner.tool_calls
        has_finished = runner.finish_reason == "stop" or any(call.name == FINISH for call in calls)
        # A check has a connection to the database of its own: most answers are spared that.
        if has_finished and may_have_files(text, calls, is_continuing=self._is_continuing):
            await in_outside_thread(check_answer, self._id, text, calls)

    def delta_events(self, pieces: Sequence[Shown], offset: int) -> list[NewEvent]:
        return events.shown(self._place, pieces, offset)

    def shown(self, fresh: list[Delta]) -> list[Shown]:
        if self._kind not in SHOWN:
            return []
        return self._reader.read(
            "".join(delta.text for delta in fresh if isinstance(delta, TextDelta))
        )
