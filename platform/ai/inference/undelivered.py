"""Answers whose callers went away: they are kept for whoever sends the request again.

What is written here goes on without the caller, like the call itself. Where the database is away it
is tried again for a minute.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast
from uuid import UUID, uuid4

import psycopg
import structlog

from ai.inference.chat import ChatRunner
from ai.inference.runner import CallRunner
from ai.inference.runtime import get_runtime
from billing.errors import AnswerLost, ChargeResolved, IdempotencyInProgress
from billing.services import charges, undelivered
from billing.services.undelivered import CONNECTED
from billing.types import Claim, Claimed, Retry, StoredAnswer, UndeliveredCall
from common.backoff import backoff
from common.database import DatabaseUnavailable
from common.errors import DomainError

log = structlog.get_logger(__name__)

AnyRunner = CallRunner[Any, Any]
Runner = TypeVar("Runner", bound=AnyRunner)

# A client may be back before it is noticed that its connection is gone. So long a request that says
# that it was sent before waits for that, where a call runs that could be its own.
GONE_SECONDS = 1.0
_GONE_LOOK_SECONDS = 0.2
# Between two looks at a call that another process carries out.
_PAUSES = (0.2, 0.2, 0.3, 0.5)
_TRY_SECONDS = 60.0
# SHA-256 of so many bytes takes half a millisecond.
_HASHED_AT_ONCE = 1_000_000


async def digest_of(body: bytes) -> str:
    """What tells one body of a request from another, in hexadecimal digits."""
    if len(body) <= _HASHED_AT_ONCE:
        return hashlib.sha256(body).hexdigest()
    return (await asyncio.to_thread(hashlib.sha256, body)).hexdigest()


# --- The caller has gone --------------------------------------------------------------------------


def keep(runner: AnyRunner, key_id: UUID, route: str, body: bytes) -> None:
    """Keep the answer of a call, which may still run, for whoever sends the request again."""
    get_runtime().spawn(_keep(runner, key_id, route, body))


def give_back(claim: Claim) -> None:
    """The answer could not be delivered this time either."""
    get_runtime().spawn(_in_time(lambda: undelivered.give_back(claim)))


def forget(claim: Claim) -> None:
    """The answer was delivered."""
    runner = get_runtime().find(claim.charge_id)
    get_runtime().spawn(_forget(claim, runner))


async def _keep(runner: AnyRunner, key_id: UUID, route: str, body: bytes) -> None:
    call, charge_id = runner.call, runner.charge_id
    account_id, digest = call.account_id, await digest_of(body)
    kept = UndeliveredCall(charge_id, account_id, key_id, route, digest, call.request_id)
    if runner.keep_answer(kept):
        await _note(runner, kept)
        return
    await runner.finished.wait()
    record = runner.settled_record()
    if record is not None:
        await _in_time(lambda: undelivered.keep(kept, record))


async def _note(runner: AnyRunner, kept: UndeliveredCall) -> None:
    """Other processes shall know at once; when the call ends, its settlement writes it all."""
    for pause in backoff(0.05, 0.1, 0.2, 0.5):
        if runner.finished.is_set():
            return
        try:
            if await undelivered.note(kept):
                return
        except (DatabaseUnavailable, psycopg.Error):
            log.warning("undelivered.not_noted", charge_id=str(kept.charge_id))
        await asyncio.sleep(pause)


async def _forget(claim: Claim, runner: AnyRunner | None) -> None:
    if runner is not None:
        await runner.finished.wait()  # the settlement may write the row
    await _in_time(lambda: undelivered.forget(claim))


async def _in_time(write: Callable[[], Awaitable[object]]) -> None:
    give_up_at = time.monotonic() + _TRY_SECONDS
    for pause in backoff(0.2, 0.5, 1.0, 2.0):
        try:
            await write()
        except (DatabaseUnavailable, psycopg.Error):
            log.warning("undelivered.not_written", exc_info=True)
            if time.monotonic() > give_up_at:
                return
            await asyncio.sleep(pause)
        else:
            return


# --- The request is sent again --------------------------------------------------------------------


async def claim(retry: Retry) -> Claim | None:
    """Claim the answer of a call whose caller has gone, for a request that was sent before.

    None where there is none: the request is a new one. Raises IdempotencyInProgress where the
    request names the one that it repeats, and that one's connection is not known to be closed.
    """
    runtime = get_runtime()
    await runtime.admit()  # a claim counts as long as the process has its lease
    claim_id, give_up_at = uuid4(), time.monotonic() + GONE_SECONDS
    while True:
        outcome, claimed = await undelivered.claim(retry, claim_id, runtime.owner_id)
        if outcome != CONNECTED:
            return claimed
        if time.monotonic() > give_up_at:
            if retry.retry_of is not None:
                raise IdempotencyInProgress(
                    "The request that this one repeats is still running, and its connection is "
                    "open. Try again in a moment.",
                    retry_after=1,
                )
            return None
        await asyncio.sleep(_GONE_LOOK_SECONDS)


async def begun(claim: Claim, replay: Callable[[], Runner]) -> Runner | None:
    """The runner of the claimed call, once its answer can begin: the one that makes the call, where
    this process does, or `replay()`, which is given the answer.

    None where nothing came of the call, and nothing was billed. Raises AnswerLost where it was
    billed and has no answer.
    """
    running = get_runtime().find(claim.charge_id)
    if running is not None and await _has_begun(running):
        return cast(Runner, running)
    pauses = backoff(*_PAUSES)
    while (found := await _look(claim)) and found.status == "held":
        if found.begun and isinstance(runner := replay(), ChatRunner) and runner.call.stream:
            runner.begin()
            get_runtime().spawn(_follow(claim, runner))
            return runner
        await asyncio.sleep(next(pauses))
    if found is None:
        return None
    stored, runner = _stored(claim, found), replay()
    runner.replay(stored)
    return runner


async def _has_begun(running: AnyRunner) -> bool:
    """Wait until the answer can begin. False where the call fails before."""
    try:
        if isinstance(running, ChatRunner) and running.call.stream:
            await running.started()
        else:
            await running.ended()
    except DomainError:
        await running.finished.wait()
        return False
    return True


async def _follow(claim: Claim, runner: ChatRunner) -> None:
    """Give a stream that has begun its text when the call has ended, in another process."""
    while True:
        await asyncio.sleep(_PAUSES[-1])
        try:
            found = await _look(claim)
        except (DatabaseUnavailable, psycopg.Error):
            log.warning("undelivered.not_looked_for", charge_id=str(claim.charge_id))
            continue
        if found is None or found.status != "held":
            break
    try:
        if found is None:
            raise ChargeResolved
        runner.replay(_stored(claim, found))
    except DomainError as error:
        runner.refuse(error)


async def _look(claim: Claim) -> Claimed | None:
    """The claimed call; None where nothing was billed for it, or it is not claimed any more."""
    found = await undelivered.look(claim)
    if found is not None and found.lapsed:
        await charges.expire(claim.charge_id)
        found = await undelivered.look(claim)
    return None if found is None or found.status == "released" else found


def _stored(claim: Claim, found: Claimed) -> StoredAnswer:
    if found.answer is None:
        is_interrupted = found.status == "expired"
        raise AnswerLost(found.billed, is_interrupted=is_interrupted, is_named=False)
    return StoredAnswer(claim.charge_id, found.billed, found.answer)
