"""OpenAI's embeddings interface, which other providers have too: `POST {base_url}/embeddings`.

Protocol: OpenAI's API reference, "Embeddings". Vectors are requested in base64 and passed on
unchanged; lists of numbers are read too.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ai.providers.config import ProviderConfig
from ai.providers.errors import UpstreamError
from ai.providers.http_calls import body_of
from ai.providers.payloads import Count, sensible, usage_decoder
from ai.providers.tokens import texts_upper_bound
from ai.providers.types import Deadlines, EmbeddingRequest, Embeddings
from ai.providers.vectors import dimensions_of, encoded, shortened
from ai.providers.whole_answers import read_answer
from common.http import UpstreamClient

# The limits of one call upstream. Tokens are counted by their upper bound, so never too few.
MAX_INPUTS = 2_048
MAX_TOKENS = 300_000

_CALLS_AT_ONCE = 4
# The numbers of a vector, where the request names no other (platform.openai.com: "Embeddings").
_LENGTHS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_MAX_VECTOR = 100_000  # bytes of an answer for each vector: over 4,000 numbers in decimal


class _Item(Struct):
    embedding: str | list[float]
    index: int | None = None


class _Usage(Struct):
    prompt_tokens: Count


class _Answer(Struct):
    data: list[_Item]
    usage: Raw = Raw()


_decode_answer = msgspec.json.Decoder(_Answer).decode
_decode_usage = usage_decoder(_Usage)


class OpenAIEmbeddings:
    """One provider's embeddings interface (an `ai.providers.types.EmbeddingWire`). It never
    retries."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._url = f"{config.base_url}/embeddings"
        self._headers = {"Content-Type": "application/json"}
        if config.api_key:
            self._headers["Authorization"] = f"Bearer {config.api_key}"

    async def embed(self, request: EmbeddingRequest, deadlines: Deadlines) -> Embeddings:
        """See `EmbeddingWire.embed`. A failed call ends the others."""
        by = asyncio.get_running_loop().time() + deadlines.total
        places = asyncio.Semaphore(_CALLS_AT_ONCE)

        async def embed_part(inputs: list[str]) -> Embeddings:
            async with places:
                return await self._call(request, inputs, deadlines.connect, by)

        try:
            async with asyncio.TaskGroup() as group:
                parts = [group.create_task(embed_part(part)) for part in _parts(request.inputs)]
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        return _joined([part.result() for part in parts])

    async def _call(
        self, request: EmbeddingRequest, inputs: list[str], connect_timeout: float, by: float
    ) -> Embeddings:
        body: dict[str, Any] = {"model": request.model, "input": inputs}
        body["encoding_format"] = "base64"
        if request.dimensions is not None:
            body["dimensions"] = request.dimensions
        sending = self._client.post(
            self._url, self._headers, msgspec.json.encode(body), connect_timeout=connect_timeout
        )
        payload = await body_of(sending, len(inputs) * _MAX_VECTOR, by)
        return _read(payload, len(inputs), request)


def _parts(inputs: Iterable[str]) -> Iterator[list[str]]:
    """`inputs` in order, in parts within the limits of one call."""
    part: list[str] = []
    tokens = 0
    for text in inputs:
        bound = texts_upper_bound([text])
        if part and (len(part) == MAX_INPUTS or tokens + bound > MAX_TOKENS):
            yield part
            part, tokens = [], 0
        part.append(text)
        tokens += bound
    if part:
        yield part


def _read(payload: bytes, count: int, request: EmbeddingRequest) -> Embeddings:
    """The answer to a call with `count` of the inputs. Raises ProviderErrors."""
    answer = read_answer(_decode_answer, payload)
    items = answer.data
    if any(item.index is not None for item in items):
        items.sort(key=lambda item: -1 if item.index is None else item.index)
        if [item.index for item in items] != list(range(count)):
            raise _nonsense()
    if len(items) != count:
        raise _nonsense()
    try:
        vectors = [_vector(item.embedding, request) for item in items]
    except ValueError:
        raise _nonsense() from None
    usage = sensible(_decode_usage, answer.usage)
    return Embeddings(vectors, usage.prompt_tokens if usage else None)


def _vector(embedding: str | list[float], request: EmbeddingRequest) -> str:
    """The vector in base64, with the requested length, or that of the model. Raises ValueError
    where it is malformed, or another one."""
    vector = embedding if isinstance(embedding, str) else encoded(embedding)
    length, dimensions = dimensions_of(vector), request.dimensions
    if length < (dimensions or 1) or (
        not dimensions and length != _LENGTHS.get(request.model, length)
    ):
        raise ValueError("The vector is too short, or of another model.")
    return shortened(vector, dimensions) if dimensions and length > dimensions else vector


def _joined(parts: Sequence[Embeddings]) -> Embeddings:
    """All parts as one. Raises UpstreamError where the lengths of their vectors differ."""
    vectors = [vector for part in parts for vector in part.vectors]
    if len({len(vector) for vector in vectors}) != 1:
        raise _nonsense()
    counts = [part.input_tokens for part in parts]
    known = [count for count in counts if count is not None]
    return Embeddings(vectors, sum(known) if len(known) == len(counts) else None)


def _nonsense() -> UpstreamError:
    return UpstreamError("The provider sent something that is not the vectors asked for.")
