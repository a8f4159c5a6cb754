"""The embeddings wire: what goes out, what comes back, and how it fails."""

import asyncio
import json
import math
import time

import pytest

from ai.providers.config import ProviderConfig
from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.openai_embeddings import MAX_INPUTS, MAX_TOKENS, OpenAIEmbeddings
from ai.providers.types import Deadlines
from ai.providers.vectors import decoded, encoded
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Call, Upstream

from .media import AMPLE, answer, embedding_request, vectors_for

VECTOR = encoded([0.5, 0.25, 1.0])


@pytest.fixture
def wire(upstream: Upstream, client: UpstreamClient) -> OpenAIEmbeddings:
    upstream.answer = lambda call: answer(vectors_for(call))
    config = ProviderConfig(
        "openai", "openai_compatible", upstream.url, "sk-secret-of-the-platform"
    )
    return OpenAIEmbeddings(config, client)


async def failure_of(
    wire: OpenAIEmbeddings, *inputs: str, deadlines: Deadlines = AMPLE
) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        await wire.embed(embedding_request(*inputs), deadlines)
    return failure.value


def listed(*embeddings: object, **fields: object) -> Answer:
    data = [{"index": i, "embedding": embedding} for i, embedding in enumerate(embeddings)]
    return answer({"data": data, **fields})


async def test_base64_is_asked_for_and_passed_on_as_it_came(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    upstream.answer = listed(VECTOR, VECTOR, usage={"prompt_tokens": 7, "total_tokens": 7})
    embeddings = await wire.embed(embedding_request("One", "Two"), AMPLE)
    assert embeddings.vectors == [VECTOR, VECTOR]
    assert embeddings.input_tokens == 7
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/embeddings")
    assert call.headers["authorization"] == "Bearer sk-secret-of-the-platform"
    assert call.json == {
        "model": "some-model",
        "input": ["One", "Two"],
        "encoding_format": "base64",
    }


async def test_no_key_is_no_authorization(upstream: Upstream, client: UpstreamClient) -> None:
    wire = OpenAIEmbeddings(ProviderConfig("local", "openai_compatible", upstream.url, ""), client)
    upstream.answer = listed(VECTOR)
    await wire.embed(embedding_request(), AMPLE)
    assert "authorization" not in upstream.calls[0].headers


async def test_vectors_are_put_in_the_order_of_their_texts(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    def backwards(call: Call) -> Answer:
        document = vectors_for(call)
        assert isinstance(document["data"], list)
        document["data"].reverse()
        return answer(document)

    upstream.answer = backwards
    embeddings = await wire.embed(embedding_request("a", "bb", "ccc"), AMPLE)
    assert [decoded(vector)[0] for vector in embeddings.vectors] == [1.0, 2.0, 3.0]


async def test_vectors_without_an_index_are_taken_as_they_come(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    other = encoded([1.0, 2.0, 3.0])
    upstream.answer = answer({"data": [{"embedding": VECTOR}, {"embedding": other}]})
    embeddings = await wire.embed(embedding_request("a", "b"), AMPLE)
    assert embeddings.vectors == [VECTOR, other]


async def test_lists_of_numbers_are_understood(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    upstream.answer = listed([0.5, 0.25, 1])
    assert (await wire.embed(embedding_request(), AMPLE)).vectors == [VECTOR]


async def test_dimensions_are_asked_for(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    upstream.answer = listed(VECTOR)
    embeddings = await wire.embed(embedding_request(dimensions=3), AMPLE)
    assert upstream.calls[0].json["dimensions"] == 3
    assert embeddings.vectors == [VECTOR]


async def test_a_vector_longer_than_asked_is_shortened(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    upstream.answer = listed(encoded([3.0, 4.0, 12.0]), [3.0, 4.0, 12.0])
    embeddings = await wire.embed(embedding_request("a", "b", dimensions=2), AMPLE)
    for vector in embeddings.vectors:
        assert decoded(vector) == pytest.approx([0.6, 0.8])
        assert math.hypot(*decoded(vector)) == pytest.approx(1.0)


async def test_a_vector_shorter_than_asked_is_a_failure(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    upstream.answer = listed(VECTOR)
    with pytest.raises(UpstreamError):
        await wire.embed(embedding_request(dimensions=4), AMPLE)


async def test_more_texts_than_the_provider_takes_are_several_calls(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    texts = ["a" * (1 + i % 5) for i in range(2 * MAX_INPUTS + 1)]
    embeddings = await wire.embed(embedding_request(*texts), AMPLE)
    assert sorted(len(call.json["input"]) for call in upstream.calls) == [1, MAX_INPUTS, MAX_INPUTS]
    assert [decoded(vector)[0] for vector in embeddings.vectors] == [len(text) for text in texts]
    assert embeddings.input_tokens == 2 * len(texts)


@pytest.mark.parametrize("letter", ["a", "é", "漢", "🙂"])
async def test_no_call_can_hold_more_tokens_than_the_provider_takes(
    upstream: Upstream, wire: OpenAIEmbeddings, letter: str
) -> None:
    """Every known tokenizer spends at least one byte on a token."""
    texts = [letter * 12_000] * 60
    embeddings = await wire.embed(embedding_request(*texts), AMPLE)
    assert len(embeddings.vectors) == 60
    sizes = [sum(len(text.encode()) for text in call.json["input"]) for call in upstream.calls]
    assert max(sizes) <= MAX_TOKENS
    assert len(sizes) <= sum(sizes) / (MAX_TOKENS - 50_000) + 1


async def test_a_text_over_the_limit_goes_alone(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    await wire.embed(embedding_request("a", "b" * (MAX_TOKENS + 1), "c"), AMPLE)
    assert sorted(len(call.json["input"]) for call in upstream.calls) == [1, 1, 1]


async def test_at_most_four_calls_are_under_way(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    def slow(call: Call) -> Answer:
        prepared = answer(vectors_for(call))
        prepared.delay = 0.05
        return prepared

    upstream.answer = slow
    await wire.embed(embedding_request(*["a" * 200_000] * 9), AMPLE)
    assert len(upstream.calls) == 9
    assert upstream.connections == 4


async def test_one_call_that_fails_ends_the_others(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    def one_fails(call: Call) -> Answer:
        if call.json["input"][0].startswith("b"):
            return answer({"error": {"message": "busy", "code": "busy"}}, 503)
        return Answer([], content_type=JSON, ending="hanging")

    upstream.answer = one_fails
    started = time.monotonic()
    failure = await failure_of(wire, "a" * 200_000, "b" * 200_000, "c" * 200_000)
    assert str(failure) == "The provider failed (HTTP 503, busy)."
    assert time.monotonic() - started < 2.0
    async with asyncio.timeout(2.0):
        await upstream.left.wait()


async def test_usage_that_one_call_kept_to_itself_is_unknown(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    def secretive(call: Call) -> Answer:
        document = vectors_for(call)
        if call.json["input"][0].startswith("b"):
            del document["usage"]
        return answer(document)

    upstream.answer = secretive
    embeddings = await wire.embed(embedding_request("a" * 200_000, "b" * 200_000), AMPLE)
    assert embeddings.input_tokens is None


async def test_a_count_may_be_a_float(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    upstream.answer = listed(VECTOR, usage={"prompt_tokens": 7.0})
    assert (await wire.embed(embedding_request(), AMPLE)).input_tokens == 7


async def test_a_usage_of_nothing_is_passed_on(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    upstream.answer = listed(VECTOR, usage={"prompt_tokens": 0})
    assert (await wire.embed(embedding_request(), AMPLE)).input_tokens == 0


@pytest.mark.parametrize(
    "usage",
    [
        None,
        7,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": -1},
        {"prompt_tokens": 1.5},
        {"prompt_tokens": 2**40},
        {"prompt_tokens": "seven"},
    ],
)
async def test_usage_that_makes_no_sense_is_missing(
    upstream: Upstream, wire: OpenAIEmbeddings, usage: object
) -> None:
    upstream.answer = listed(VECTOR, usage=usage)
    embeddings = await wire.embed(embedding_request(), AMPLE)
    assert (embeddings.vectors, embeddings.input_tokens) == ([VECTOR], None)


@pytest.mark.parametrize(
    "document",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": VECTOR}]},
        {"data": [{"index": i, "embedding": VECTOR} for i in range(3)]},
        {"data": [{"index": 0, "embedding": VECTOR}] * 2},
        {"data": [{"index": i, "embedding": VECTOR} for i in (1, 2)]},
        {"data": [{"index": 0, "embedding": VECTOR}, {"embedding": VECTOR}]},
        {"data": [{"embedding": VECTOR}, {"embedding": encoded([1.0])}]},
        {"data": [{"embedding": ""}] * 2},
        {"data": [{"embedding": []}] * 2},
        {"data": [{"embedding": "not base64"}] * 2},
        {"data": [{"embedding": VECTOR[:-1]}] * 2},
        {"data": [{"embedding": "é" + VECTOR[1:]}] * 2},
        {"data": [{"embedding": [1e39]}] * 2},
        {"data": [{"embedding": ["1"]}] * 2},
        {"data": [{"embedding": None}] * 2},
        {"data": [{}, {}]},
        {"data": None},
        {},
        [],
        7,
    ],
)
async def test_what_is_not_the_vectors_asked_for_is_a_failure(
    upstream: Upstream, wire: OpenAIEmbeddings, document: object
) -> None:
    upstream.answer = answer(document)
    assert isinstance(await failure_of(wire, "a", "b"), UpstreamError)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[" * 100_000,
        b'{"data":' + b"[" * 100_000,
        b'{"data":[{"embedding":"\xff"}]}',
        b'{"data":[{"embedding":[1e999]}]}',
        b"x" * 10_000_000,
        b'{"data":"' + b"x" * 10_000_000,
    ],
)
async def test_junk_is_a_failure_and_soon(
    upstream: Upstream, wire: OpenAIEmbeddings, body: bytes
) -> None:
    upstream.answer = Answer([body], content_type=JSON)
    assert isinstance(await failure_of(wire), UpstreamError)


async def test_an_answer_far_longer_than_its_vectors_is_not_read_to_its_end(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    upstream.answer = Answer([b" " * 50_000] * 1_000, content_type=JSON)
    assert "longer than" in str(await failure_of(wire))


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_provider_that_does_not_serve_us_is_unavailable(
    upstream: Upstream, wire: OpenAIEmbeddings, status: int
) -> None:
    upstream.answer = answer({"error": {"message": "No"}}, status)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 8192 tokens.", "code": None},
        {"message": "Invalid 'input[0]': maximum input length is 8192 tokens.", "code": None},
        {"message": "Too much.", "code": "context_length_exceeded"},
    ],
)
async def test_a_text_that_is_too_long_is_told_apart(
    upstream: Upstream, wire: OpenAIEmbeddings, error: dict[str, str | None]
) -> None:
    upstream.answer = answer({"error": {"type": "invalid_request_error", **error}}, 400)
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert failure.too_long


async def test_an_error_that_comes_with_200_is_an_error(
    upstream: Upstream, wire: OpenAIEmbeddings
) -> None:
    upstream.answer = answer({"error": {"message": "busy", "code": "overloaded"}})
    assert str(await failure_of(wire)) == "The provider failed (overloaded)."


@pytest.mark.parametrize(
    "prepared",
    [
        Answer(delay=30.0),
        Answer([b'{"data":['], content_type=JSON, ending="hanging"),
        Answer([b" ", 0.1] * 100, content_type=JSON),
    ],
)
async def test_a_provider_that_hangs_or_drips_is_left_in_time(
    upstream: Upstream, wire: OpenAIEmbeddings, prepared: Answer
) -> None:
    upstream.answer = prepared
    started = time.monotonic()
    failure = await failure_of(wire, deadlines=Deadlines(connect=2.0, total=0.3))
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert time.monotonic() - started < 2.0


async def test_a_truncated_answer_is_a_failure(upstream: Upstream, wire: OpenAIEmbeddings) -> None:
    body = json.dumps({"data": [{"embedding": VECTOR}]}).encode()
    upstream.answer = Answer([body[:20]], content_type=JSON, ending="broken")
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable
