"""`POST /v1/embeddings`: a vector for each text."""

import asyncio

from msgspec import json

from ai.inference.embeddings import EmbeddingRunner
from ai.inference.services import open_embeddings, replay_embeddings
from ai.inference.types import EmbeddingAnswer, EmbeddingCall
from ai.providers.vectors import decoded
from publicapi.v1 import embeddings_schema, errors, idempotency, retries
from publicapi.v1.authentication import authenticate
from publicapi.v1.embeddings_schema import EmbeddingList, EmbeddingRow, EmbeddingsUsage
from publicapi.v1.exchange import Exchange
from publicapi.v1.model_access import find_callable

# 256 texts of 12,000 characters, each escaped as two \uXXXX, with room for the rest of the body.
MAX_BODY = 40 * 1024 * 1024
# Vectors that are written before the event loop runs other tasks: 1 or 2 ms of work as numbers.
VECTORS_AT_ONCE = 16


async def create_embeddings(exchange: Exchange) -> None:
    """Authenticate, check, call, answer. Raises DomainErrors."""
    holder = await authenticate(exchange)
    body = await exchange.body(MAX_BODY, errors.InputTooLong("The body is larger than 40 MB."))
    request = embeddings_schema.parse(body)
    exchange.ignored = request.ignored
    call = EmbeddingCall(
        account_id=holder.account_id,
        api_key_id=holder.key_id,
        source="api",
        model=await find_callable(request.model, "embedding", holder),
        inputs=request.inputs,
        dimensions=request.dimensions,
        request_id=exchange.request_id,
        request_key=idempotency.read_request_key(exchange, body),
    )
    runner = await retries.opened(exchange, call, body, open_embeddings, replay_embeddings)
    with idempotency.marked(exchange, runner):
        answer = await runner.ended()
    await exchange.respond(200, await _encoded(runner, answer, base64=request.base64))


async def _encoded(runner: EmbeddingRunner, answer: EmbeddingAnswer, *, base64: bool) -> bytes:
    """The response, encoded in pieces: a large one would delay all other requests."""
    usage = EmbeddingsUsage(answer.input_tokens, answer.input_tokens)
    whole = json.encode(EmbeddingList([], runner.call.model.id, usage))
    before, after = whole.split(b"[]")
    items: list[bytes] = []
    for index, vector in enumerate(answer.vectors):
        items.append(json.encode(EmbeddingRow(index, vector if base64 else decoded(vector))))
        if index % VECTORS_AT_ONCE == VECTORS_AT_ONCE - 1:
            await asyncio.sleep(0)
    return b"".join((before, b"[", b",".join(items), b"]", after))
