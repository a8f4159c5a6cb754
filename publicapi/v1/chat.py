"""`POST /v1/chat/completions`: one answer, or a stream of chunks."""

from contextlib import aclosing

from msgspec import UNSET, json

from ai.inference.chat import ChatRunner
from ai.inference.services import open_chat, replay_chat
from ai.inference.types import ChatAnswer, ChatCall
from ai.providers.types import Delta, TextDelta
from common import request_line
from common.errors import DomainError
from common.ids import unix_seconds
from publicapi.v1 import chat_schema, errors, idempotency, retries
from publicapi.v1.authentication import authenticate
from publicapi.v1.chat_schema import (
    AssistantMessage,
    ChatUsage,
    Choice,
    ChunkChoice,
    ChunkDelta,
    Completion,
    CompletionChunk,
    CompletionTokensDetails,
    PromptTokensDetails,
)
from publicapi.v1.exchange import Exchange
from publicapi.v1.model_access import find_callable

PATH = "/v1/chat/completions"

# 400,000 characters, each escaped as two \uXXXX, with room for the rest of the body.
MAX_BODY = 8 * 1024 * 1024
# A stream that is silent for this long, or up to twice as long, gets a comment, so that no proxy
# closes it.
KEEP_ALIVE_SECONDS = 15.0


async def create_completion(exchange: Exchange) -> None:
    """Authenticate, check, open the call, answer. Raises DomainErrors until the answer begins."""
    holder = await authenticate(exchange)
    body = await exchange.body(MAX_BODY, errors.InputTooLong("The body is larger than 8 MB."))
    request = chat_schema.parse(body)
    exchange.ignored = request.ignored
    model = await find_callable(request.model, "chat", holder)
    exchange.ignored = request.ignored_by(model)
    call = ChatCall(
        account_id=holder.account_id,
        api_key_id=holder.key_id,
        source="api",
        model=model,
        messages=request.messages,
        max_output_tokens=request.max_output_tokens,
        reasoning_effort=request.reasoning_effort,
        stream=request.stream,
        request_id=exchange.request_id,
        request_key=idempotency.read_request_key(exchange, body),
    )
    runner = await retries.opened(exchange, call, body, open_chat, replay_chat)
    if request.stream:
        await _stream(exchange, runner, request.usage_on_every_chunk)
    else:
        await _answer(exchange, runner)


async def _answer(exchange: Exchange, runner: ChatRunner) -> None:
    with idempotency.marked(exchange, runner):
        answer = await runner.ended()
    message = AssistantMessage(
        content=runner.text, refusal=None, reasoning_content=runner.reasoning or UNSET
    )
    completion = Completion(
        id=_completion_id(runner),
        created=unix_seconds(runner.charge_id),
        model=runner.call.model.id,
        choices=[Choice(0, message, logprobs=None, finish_reason=answer.finish_reason)],
        usage=_usage(answer),
    )
    await exchange.respond(200, json.encode(completion))


async def _stream(exchange: Exchange, runner: ChatRunner, usage_on_every_chunk: bool) -> None:
    """Stream the answer. It begins with the first output: a failure before it has an error
    status."""
    with idempotency.marked(exchange, runner):
        await runner.started()
    chunks = _Chunks(runner, usage_on_every_chunk)
    try:
        async with exchange.stream():
            await exchange.write(chunks.first())
            async with aclosing(runner.stream(KEEP_ALIVE_SECONDS)) as batches:
                async for batch in batches:
                    await exchange.write(chunks.deltas(batch) if batch else b": keep-alive\n\n")
            await exchange.write(await _last_chunks(runner, chunks), last=True)
    except TimeoutError:
        return  # the client stopped reading; the runner continues and settles


async def _last_chunks(runner: ChatRunner, chunks: "_Chunks") -> bytes:
    try:
        return chunks.last(await runner.ended())
    except DomainError as error:
        request_line.current().note(error)
        return _frame(errors.body(error, PATH)) + _DONE


class _Chunks:
    """Encodes the chunks of one stream; all fields but the delta are encoded once."""

    def __init__(self, runner: ChatRunner, usage_on_every_chunk: bool) -> None:
        self._choice = ChunkChoice(0, ChunkDelta(), logprobs=None, finish_reason=None)
        self._chunk = CompletionChunk(
            id=_completion_id(runner),
            created=unix_seconds(runner.charge_id),
            model=runner.call.model.id,
            choices=[self._choice],
            usage=None if usage_on_every_chunk else UNSET,
        )
        before, after = _frame(json.encode(self._chunk)).split(b'"delta":{}')
        self._before, self._after = before + b'"delta":', after

    def first(self) -> bytes:
        return self._before + json.encode(ChunkDelta(role="assistant", content="")) + self._after

    def deltas(self, batch: list[Delta]) -> bytes:
        before, after, encode = self._before, self._after, json.encode
        parts: list[bytes] = []
        for delta in batch:
            name = b'{"content":' if type(delta) is TextDelta else b'{"reasoning_content":'
            parts += (before, name, encode(delta.text), b"}", after)
        return b"".join(parts)

    def last(self, answer: ChatAnswer) -> bytes:
        """The finish reason and the usage, on one chunk: the last before `[DONE]`."""
        self._choice.finish_reason = answer.finish_reason
        self._chunk.usage = _usage(answer)
        return _frame(json.encode(self._chunk)) + _DONE


def _frame(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


_DONE = _frame(b"[DONE]")


def _completion_id(runner: ChatRunner) -> str:
    return f"chatcmpl-{runner.charge_id.hex}"


def _usage(answer: ChatAnswer) -> ChatUsage:
    usage = answer.usage
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=PromptTokensDetails(usage.cached_tokens),
        completion_tokens_details=CompletionTokensDetails(usage.reasoning_tokens),
    )
