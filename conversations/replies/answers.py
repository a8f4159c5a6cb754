"""The responses to the client of a running reply: a stream of frames, or one JSON."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from msgspec import json
from msgspec.structs import replace

from ai.generations.types import pieces_of
from ai.inference.bounds import chat_cost
from ai.inference.chat import ChatRunner
from billing.selectors.charges import ChargeUsage
from common.errors import DomainError
from conversations.frames import PING, Frames
from conversations.models import Message
from conversations.replies.running import Reply
from conversations.selectors.messages import row_of
from conversations.serializers.messages import message_in_event

# Seconds of silence after which a reader gets a sign of life, and at most twice as many.
SILENCE = 15.0
# How long an answer without a stream waits for its head at most, if nothing has come: less than
# what stands between a client and this process may wait.
HEAD_TIMEOUT = 20.0
# Seconds that the last frame waits for the settlement, after the runner has waited for it.
END_TIMEOUT = 2.0


async def frames_of(reply: Reply) -> AsyncGenerator[bytes, None]:
    """The frames of a reply, from its start to its end."""
    frames = Frames()
    yield frames.start(reply.started.reply)
    is_titled = False
    await reply.opened.wait()
    if reply.runner is not None:
        async with aclosing(reply.runner.stream(SILENCE)) as batches:
            async for batch in batches:
                yield frames.pieces(pieces_of(batch)) if batch else PING
                if reply.title and not is_titled:
                    is_titled = True
                    yield frames.title(reply.title)
    message = await _ended(reply)
    if reply.title and not is_titled:
        yield frames.title(reply.title)
    yield frames.end(message)


async def json_of(reply: Reply, question: dict[str, Any]) -> AsyncGenerator[bytes, None]:
    """The reply as JSON when it has ended, beside the message that it answers. Spaces, which are
    allowed before any JSON, are sent until then: with the first output, and after long silences.
    Raises the DomainError of a reply that failed before its first output, at no cost."""
    texts: dict[str, str | None] = {"content": "", "reasoning": None}
    silent_until = asyncio.get_running_loop().time() + HEAD_TIMEOUT
    has_begun = False
    await reply.opened.wait()
    if (runner := reply.runner) is not None:
        async with aclosing(runner.stream(SILENCE)) as batches:
            async for batch in batches:
                is_late = asyncio.get_running_loop().time() > silent_until
                if (batch and not has_begun) or (not batch and is_late):
                    has_begun = True
                    yield b" "
        texts = {"content": runner.text, "reasoning": runner.reasoning or None}
    message = await _ended(reply)
    if not has_begun and (failure := _free_failure(reply, message)):
        raise failure
    yield json.encode(
        {"user_message": question, "message": message | texts, "usage": message["usage"]}
    )


def _free_failure(reply: Reply, message: dict[str, Any]) -> DomainError | None:
    """The error of a failed reply that was not billed, with the text of its message."""
    failure = reply.failure or (reply.runner and reply.runner.error)
    if not failure or message["status"] != Message.Status.FAILED or message["usage"] is not None:
        return None
    fields = dict(message["error"])
    del fields["code"]
    failure.text, failure.extra = fields.pop("message"), fields
    return failure


async def _ended(reply: Reply) -> dict[str, Any]:
    """The data of `reply.ended`, or the known part of the data where the database does not answer
    or the conversation was deleted."""
    with suppress(TimeoutError):
        async with asyncio.timeout(END_TIMEOUT):
            await reply.over.wait()
    return reply.view or _unsettled(reply)


def _unsettled(reply: Reply) -> dict[str, Any]:
    """A reply whose payment is not known."""
    row, runner = reply.started.reply, reply.runner
    completion = reply.completion(reply.failure or (runner.error if runner else None))
    state = replace(
        row_of(row),
        status=completion.status,
        finish_reason=completion.reason or None,
        error=completion.error,
        usage=None if runner is None else _usage(runner),
    )
    view = message_in_event(state)
    if view["usage"] is not None:
        view["usage"] |= {"paid_by_plan_usd": None, "paid_by_balance_usd": None}
    return view


def _usage(runner: ChatRunner) -> ChargeUsage | None:
    """The usage of a call that ended well, without the amounts paid, which are not known yet."""
    if runner.answer is None:
        return None
    used = runner.answer.usage
    return ChargeUsage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        reasoning_tokens=used.reasoning_tokens,
        cached_tokens=used.cached_tokens,
        cost=chat_cost(
            runner.call.model, used.input_tokens, used.output_tokens, used.cached_tokens
        ),
        plan=0,
        balance=0,
    )
