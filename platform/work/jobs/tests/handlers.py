"""Handlers that write what they do to the stream that has their job's id."""

import asyncio
import os
from uuid import UUID

from django.db import transaction

from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Catalog
from ai.inference.services import open_chat
from ai.inference.types import ChatCall
from ai.providers.types import Message
from common.threads import in_thread
from events import services as events
from events.types import NewEvent
from work.jobs import services
from work.jobs.handlers import Handler, RecoveryAction, register, register_begun
from work.jobs.models import Job
from work.jobs.running import RunningJob
from work.leases.keeper import get_lease_keeper

QUICK = "tests.quick"
BRIEF = "tests.brief"
ENDLESS = "tests.endless"
RAISING = "tests.raising"
FORGETFUL = "tests.forgetful"
CALLING = "tests.calling"
STARTING_AGAIN = "tests.starting_again"
FAULTY_AT_FIRST = "tests.faulty_at_first"
FAULTY_RECOVERY = "tests.faulty_recovery"
HELD = "tests.held"
HELD_LONG = "tests.held.long"
# The same, begun in the process that is asked for them.
BEGUN_BRIEF = "tests.begun.brief"
BEGUN_ENDLESS = "tests.begun.endless"
BEGUN_RAISING = "tests.begun.raising"
BEGUN_FORGETFUL = "tests.begun.forgetful"
BEGUN_CALLING = "tests.begun.calling"

BRIEF_SECONDS = 2.0
# Its provider takes 40 seconds to answer.
LONG_CALL = 'Hello.\n@sim {"tokens": 400, "delay_ms": 100}'
STEP_SECONDS = 0.05


class _Handler(Handler):
    """Says that it has begun, and in which process; then does what its kind does."""

    async def run(self, job: RunningJob) -> None:
        await job.append(job.id, [NewEvent("begun", {"attempt": job.attempt, "pid": os.getpid()})])
        await self._do(job)

    def on_lost(self, job_id: UUID, attempt: int) -> None:
        _end(job_id, attempt, Job.Status.FAILED, "lost")

    async def _do(self, job: RunningJob) -> None:
        raise NotImplementedError


class Quick(_Handler):
    """Ends at once."""

    async def _do(self, job: RunningJob) -> None:
        await in_thread(_end, job.id, job.attempt, Job.Status.COMPLETED, "completed")


class Brief(Quick):
    """Ends after a while."""

    async def _do(self, job: RunningJob) -> None:
        await asyncio.sleep(BRIEF_SECONDS)
        await super()._do(job)


class Endless(_Handler):
    """Takes one step after the other until something is wanted of it, or it is lost."""

    async def _do(self, job: RunningJob) -> None:
        called = asyncio.Event()
        job.on_signal(called.set)
        number = 0
        while not called.is_set():
            number += 1
            await job.append(job.id, [NewEvent("step", {"number": number})])
            await asyncio.sleep(STEP_SECONDS)
        if job.signal == Job.Signal.PAUSE:
            await in_thread(services.pause_running, job_id=job.id, attempt=job.attempt)
        elif job.signal == Job.Signal.CANCEL:
            await in_thread(_end, job.id, job.attempt, Job.Status.CANCELLED, "cancelled")


class Raising(_Handler):
    """Has a fault."""

    async def _do(self, job: RunningJob) -> None:
        raise RuntimeError("a fault of ours")


class Forgetful(_Handler):
    """Leaves without ending its job."""

    async def _do(self, job: RunningJob) -> None:
        pass


class StartingAgain(Endless):
    """Ends only when it has been lost once. What it writes as it is judged belongs to the start of
    the next attempt."""

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        events.append(stream_id=job_id, events=[NewEvent("judged", {"attempt": attempt})])
        return RecoveryAction.START_AGAIN

    async def _do(self, job: RunningJob) -> None:
        if job.attempt == 1:
            await self._do_first(job)
        else:
            await in_thread(_end, job.id, job.attempt, Job.Status.COMPLETED, "completed")

    async def _do_first(self, job: RunningJob) -> None:
        await super()._do(job)


class FaultyRecovery(StartingAgain):
    """Has a fault when it is asked how a lost job recovers."""

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        super().recovery_action(job_id, attempt)
        raise RuntimeError("a fault of ours")


class FaultyAtFirst(StartingAgain):
    """Has a fault in its first attempt."""

    async def _do_first(self, job: RunningJob) -> None:
        raise RuntimeError("a fault of ours")


class Calling(_Handler):
    """Makes a long call to a provider, under a charge that has the job's id."""

    async def _do(self, job: RunningJob) -> None:
        runner = await open_chat(await self._call(job))
        await runner.finished.wait()
        status = Job.Status.FAILED if runner.error else Job.Status.COMPLETED
        await in_thread(_end, job.id, job.attempt, status, status.value)

    async def _call(self, job: RunningJob) -> ChatCall:
        owner = get_lease_keeper().owner_id if job.kind == BEGUN_CALLING else None
        return call_of(await aget_catalog(), job.id, job.account_id, held_by=owner)


class Held(Calling):
    """Makes a call for which was held when the job was enqueued: of kind HELD_LONG a long one,
    until it is lost. It then starts again, with the same hold."""

    def recovery_action(self, job_id: UUID, attempt: int) -> RecoveryAction:
        return RecoveryAction.START_AGAIN

    async def _call(self, job: RunningJob) -> ChatCall:
        is_long = job.kind == HELD_LONG and job.attempt == 1
        prompt = LONG_CALL if is_long else f'Hello.\n@sim {{"marker": "{job.id.hex}"}}'
        catalog = await aget_catalog()
        return call_of(catalog, job.id, job.account_id, held_by=job.id, prompt=prompt)


def call_of(
    catalog: Catalog,
    job_id: UUID,
    account_id: UUID,
    *,
    held_by: UUID | None,
    prompt: str = LONG_CALL,
) -> ChatCall:
    """The call of a job, under a charge that has its id."""
    return ChatCall(
        account_id=account_id,
        api_key_id=None,
        source="job",
        model=catalog.models["kimi-k3"],
        request_id="req_test",
        charge_id=job_id,
        messages=(Message("user", prompt),),
        stream=True,
        held_by=held_by,
    )


BEGUN: dict[str, _Handler] = {
    BEGUN_BRIEF: Brief(),
    BEGUN_ENDLESS: Endless(),
    BEGUN_RAISING: Raising(),
    BEGUN_FORGETFUL: Forgetful(),
    BEGUN_CALLING: Calling(),
}


def register_all() -> None:
    register(QUICK, Quick())
    register(BRIEF, Brief())
    register(ENDLESS, Endless())
    register(RAISING, Raising())
    register(FORGETFUL, Forgetful())
    register(CALLING, Calling())
    register(STARTING_AGAIN, StartingAgain())
    register(FAULTY_AT_FIRST, FaultyAtFirst())
    register(FAULTY_RECOVERY, FaultyRecovery())
    register(HELD, Held())
    register(HELD_LONG, Held())
    for kind, handler in BEGUN.items():
        register_begun(kind, handler)


def _end(job_id: UUID, attempt: int, status: Job.Status, what: str) -> None:
    with transaction.atomic():
        if services.end(job_id=job_id, attempt=attempt, status=status):
            events.append(stream_id=job_id, events=[NewEvent(what, None)])
