"""`POST /v1/chat/completions`: one answer, or a stream of chunks."""

from contextlib import aclosing

from ai.inference.abilities import check_vision
from ai.inference.chat import ChatRunner
from ai.inference.services import open_chat, replay_chat
from ai.inference.types import ChatCall
from ai.providers.types import Message
from billing.selectors.api_keys import KeyHolder
from billing.selectors.idempotency import has_ended
from billing.types import RequestKey
from common import request_line
from common.errors import DomainError
from publicapi.v1 import chat_schema, errors, idempotency, retries
from publicapi.v1.authentication import authenticate
from publicapi.v1.chat_answers import DONE, Chunks, completion, frame
from publicapi.v1.chat_messages import Conversation
from publicapi.v1.chat_pictures import urls_in, with_pictures
from publicapi.v1.exchange import Exchange
from publicapi.v1.model_access import find_callable

PATH = "/v1/chat/completions"

MB = 1024 * 1024
# 400,000 characters, each escaped as two \uXXXX, with room for the rest of the body.
MAX_BODY = 8 * MB
# The same with pictures in it.
MAX_BODY_WITH_PICTURES = 20 * MB
# A stream that is silent for this long, or up to twice as long, gets a comment, so that no proxy
# closes it.
KEEP_ALIVE_SECONDS = 15.0


async def create_completion(exchange: Exchange) -> None:
    """Authenticate, check, open the call, answer. Raises DomainErrors until the answer begins."""
    holder = await authenticate(exchange)
    body = await _body(exchange, holder)
    request = chat_schema.parse(body, holder.features)
    exchange.ignored = request.ignored
    model = await find_callable(request.model, "chat", holder)
    exchange.ignored = request.ignored_by(model)
    for picture in urls_in(request.conversation.shown)[:1]:
        check_vision(model, picture.param)
    request_key = idempotency.read_request_key(exchange, body)
    call = ChatCall(
        account_id=holder.account_id,
        api_key_id=holder.key_id,
        source="api",
        model=model,
        messages=await _messages(request.conversation, holder, request_key),
        max_output_tokens=request.max_output_tokens,
        reasoning_effort=request.reasoning_effort,
        tools=request.tools,
        output=request.output,
        stream=request.stream,
        request_id=exchange.request_id,
        request_key=request_key,
    )
    runner = await retries.opened(exchange, call, body, open_chat, replay_chat)
    if request.stream:
        await _stream(exchange, runner, request.usage_on_every_chunk)
    else:
        await _answer(exchange, runner)


async def _body(exchange: Exchange, holder: KeyHolder) -> bytes:
    limit = MAX_BODY_WITH_PICTURES if "vision" in holder.features else MAX_BODY
    too_long = errors.InputTooLong(f"The body is larger than {limit // MB} MB.")
    return await exchange.body(limit, too_long)


async def _messages(
    conversation: Conversation, holder: KeyHolder, request_key: RequestKey | None
) -> tuple[Message, ...]:
    """The messages with their pictures. A request that was answered before gets its answer again
    also where a picture is not at its address any more: no call is made for it."""
    messages = conversation.messages
    try:
        return await with_pictures(messages, conversation.shown, holder.account_id)
    except DomainError:
        if request_key and await has_ended(holder.account_id, request_key):
            return messages
        raise


async def _answer(exchange: Exchange, runner: ChatRunner) -> None:
    with idempotency.marked(exchange, runner):
        answer = await runner.ended()
    await exchange.respond(200, completion(runner, answer))


async def _stream(exchange: Exchange, runner: ChatRunner, usage_on_every_chunk: bool) -> None:
    """Stream the answer. It begins with the first output: a failure before it has an error
    status."""
    with idempotency.marked(exchange, runner):
        await runner.started()
    chunks = Chunks(runner, usage_on_every_chunk)
    try:
        async with exchange.stream():
            await exchange.write(chunks.first())
            async with aclosing(runner.stream(KEEP_ALIVE_SECONDS)) as batches:
                async for batch in batches:
                    await exchange.write(chunks.deltas(batch) if batch else b": keep-alive\n\n")
            await exchange.write(await _last_chunks(runner, chunks), last=True)
    except TimeoutError:
        return  # the client stopped reading; the runner continues and settles


async def _last_chunks(runner: ChatRunner, chunks: Chunks) -> bytes:
    try:
        return chunks.last(await runner.ended())
    except DomainError as error:
        request_line.current().note(error)
        return frame(errors.body(error, PATH)) + DONE
