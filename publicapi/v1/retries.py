"""A request that is sent again because its answer was lost is paid once.

When the connection of a call is closed before the last byte of its answer is written, the answer is
kept, finished or not. The next request of the same key with the same body gets it, if it says that
it was sent before: `x-stainless-retry-count` above 0, which the official clients send, or
`x-retry-of` with the id of the lost request. A request with an `Idempotency-Key` has that instead.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from ai.inference import undelivered
from ai.inference.runner import CallRunner
from ai.inference.types import Call
from billing.errors import AnswerLost, IdempotencyInProgress
from billing.types import Claim, Retry
from publicapi.v1.exchange import Exchange

RETRY_COUNT = b"x-stainless-retry-count"
RETRY_OF = b"x-retry-of"
REPLAYED = (b"x-idempotency-replayed", b"true")

AnyCall = TypeVar("AnyCall", bound=Call)
Runner = TypeVar("Runner", bound=CallRunner[Any, Any])


async def opened(
    exchange: Exchange,
    call: AnyCall,
    body: bytes,
    open_call: Callable[[AnyCall], Awaitable[Runner]],
    replay: Callable[[AnyCall], Runner],
) -> Runner:
    """The runner whose answer the request gets: that of the call that the request repeats, or of
    its own. Raises DomainErrors."""
    key_id = None if call.request_key else call.api_key_id
    if key_id is not None and _was_sent_before(exchange):
        claim = await undelivered.claim(await _retry(exchange, call, key_id, body))
        if claim and (repeated := await _begun(exchange, claim, partial(replay, call))):
            exchange.headers.append(REPLAYED)
            return repeated
    runner = await open_call(call)
    if key_id is not None:
        exchange.watch(lost=partial(undelivered.keep, runner, key_id, exchange.path, body))
    return runner


def _was_sent_before(exchange: Exchange) -> bool:
    count = exchange.header(RETRY_COUNT) or ""
    return exchange.header(RETRY_OF) is not None or (count.isdecimal() and int(count[:9]) > 0)


async def _retry(exchange: Exchange, call: Call, key_id: UUID, body: bytes) -> Retry:
    return Retry(
        account_id=call.account_id,
        api_key_id=key_id,
        route=exchange.path,
        digest=await undelivered.digest_of(body),
        retry_of=exchange.header(RETRY_OF),
        model_id=call.model.id,
        kind=call.kind,
        worst_cost=call.worst_cost,
    )


async def _begun(exchange: Exchange, claim: Claim, replay: Callable[[], Runner]) -> Runner | None:
    """The runner of the claimed call; None where nothing came of it. The answer that is not
    delivered now can be claimed again."""
    exchange.watch(lost=partial(undelivered.give_back, claim))
    try:
        runner = await undelivered.begun(claim, replay)
    except AnswerLost:
        _forget_once_delivered(exchange, claim)
        raise
    except BaseException:
        undelivered.give_back(claim)
        raise
    if exchange.is_lost:
        raise IdempotencyInProgress  # nobody reads it, and no new call is made
    if runner is None:
        undelivered.forget(claim)
    else:
        _forget_once_delivered(exchange, claim)
    return runner


def _forget_once_delivered(exchange: Exchange, claim: Claim) -> None:
    exchange.watch(
        lost=partial(undelivered.give_back, claim),
        delivered=partial(undelivered.forget, claim),
    )
