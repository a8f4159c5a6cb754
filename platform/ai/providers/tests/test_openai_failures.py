"""How calls fail: each refusal as one of our errors, and no word about our own account."""

import json
from typing import Any

import pytest

from ai.providers.chat_calls import MAX_ANSWER
from ai.providers.errors import ProviderError, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.types import Finish, TextDelta
from common.tests.upstream import JSON, Answer, Upstream

from .calls import AMPLE, events_and_failure, events_of, request
from .chunks import DONE, event, finish, text


def error(message: str = "Oh no", **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


async def failure_of(wire: OpenAICompatible) -> ProviderError:
    """How a call fails; streamed and plain calls must agree."""
    with pytest.raises(ProviderError) as streamed:
        await events_of(wire)
    with pytest.raises(ProviderError) as plain:
        await wire.complete(request(), AMPLE)
    assert type(streamed.value) is type(plain.value)
    assert str(streamed.value) == str(plain.value)
    return streamed.value


@pytest.mark.parametrize("status", [401, 402, 403, 404, 410])
async def test_a_provider_that_does_not_serve_us_is_unavailable(
    upstream: Upstream, wire: OpenAICompatible, status: int
) -> None:
    upstream.answer = Answer([error()], status, JSON)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


@pytest.mark.parametrize(
    "body",
    [
        error(code="insufficient_quota"),
        error(type="insufficient_quota", code=None),
        error(code="credit_balance_exhausted"),
        error(type="exceeded_current_quota_error"),
    ],
)
async def test_an_empty_balance_is_no_rate_limit(
    upstream: Upstream, wire: OpenAICompatible, body: bytes
) -> None:
    upstream.answer = Answer([body], 429, JSON)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


async def test_a_bad_key_that_is_answered_with_400_is_not_the_caller_s_fault(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    body = b'{"code":"invalid-argument","error":"Incorrect API key provided: xa***rt."}'
    upstream.answer = Answer([body], 400, JSON)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refused_request_says_why(
    upstream: Upstream, wire: OpenAICompatible, status: int
) -> None:
    upstream.answer = Answer([error("No emoji, please.")], status, JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert str(failure) == "No emoji, please."
    assert not failure.too_long


@pytest.mark.parametrize(
    "body",
    [
        error(code="context_length_exceeded"),
        error(code=400, type="exceed_context_size_error"),
    ],
)
async def test_a_prompt_that_is_too_long_is_told_apart(
    upstream: Upstream, wire: OpenAICompatible, body: bytes
) -> None:
    upstream.answer = Answer([body], 400, JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert failure.too_long


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(408, True), (429, True), (500, True), (503, True), (529, True), (302, False), (418, False)],
)
async def test_any_other_status_is_the_provider_s_failure(
    upstream: Upstream, wire: OpenAICompatible, status: int, retryable: bool
) -> None:
    upstream.answer = Answer([error("org-123 is busy", code="busy")], status, JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable is retryable
    assert str(failure) == f"The provider failed (HTTP {status}, busy)."


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Bad gateway</html>",
        b"",
        b"[]",
        b"7",
        b'{"error":"in words"}',
        b'{"error":null}',
        b'{"object":"error","message":"flat","code":3}',
        b'{"detail":[{"loc":["body"],"msg":"no"}]}',
        b'{"error":{"message":7,"code":[1],"type":{}}}',
        b"[" * 5_000,
        b"x" * 100_000,
    ],
)
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_no_form_of_an_error_body_is_a_surprise(
    upstream: Upstream, wire: OpenAICompatible, body: bytes, status: int
) -> None:
    upstream.answer = Answer([body], status, JSON)
    expected: dict[int, type[ProviderError]] = {
        400: RequestRefused,
        401: ProviderUnavailable,
        500: UpstreamError,
    }
    assert isinstance(await failure_of(wire), expected[status])


async def test_a_message_is_bounded_and_carries_no_credential(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    message = "Bad header Bearer abcdef123456 for sk-secret-of-the-platform " + "x" * 1_000
    upstream.answer = Answer([error(message)], 400, JSON)
    said = str(await failure_of(wire))
    assert "secret" not in said
    assert "abcdef" not in said
    assert len(said) <= 300


@pytest.mark.parametrize(
    "body",
    [
        error("busy", code="overloaded"),
        b'{"code":"busy","error":"Service is currently unavailable"}',
        b'{"object":"error","message":"busy"}',
        b'{"code":"busy","message":"busy"}',
    ],
)
async def test_an_error_that_comes_with_200_is_an_error(
    upstream: Upstream, wire: OpenAICompatible, body: bytes
) -> None:
    upstream.answer = Answer([body], 200, JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable
    assert str(failure).startswith("The provider failed")


async def test_an_error_frame_keeps_what_came_before_it(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    frame = event({"error": {"message": "busy", "code": "server_error"}})
    upstream.answer = Answer([text("a") + text("b") + frame])
    events, failure = await events_and_failure(wire)
    assert events == [TextDelta("a"), TextDelta("b")]
    assert str(failure) == "The provider failed (server_error)."


async def test_an_end_without_a_finish_is_a_failure(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    for pieces in ([text("a")], [text("a"), DONE], []):
        upstream.answer = Answer([*pieces])
        _, failure = await events_and_failure(wire)
        assert isinstance(failure, UpstreamError)


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "network_error"])
async def test_a_finish_that_tells_of_a_failure_is_one(
    upstream: Upstream, wire: OpenAICompatible, reason: str
) -> None:
    upstream.answer = Answer([text("a"), finish(reason), DONE])
    events, failure = await events_and_failure(wire)
    assert events == [TextDelta("a")]
    assert isinstance(failure, UpstreamError)


async def test_a_broken_connection_is_a_failure_that_may_be_tried_again(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a")], ending="broken")
    events, failure = await events_and_failure(wire)
    assert events == [TextDelta("a")]
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


async def test_a_connection_that_breaks_after_the_finish_spoils_nothing(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([text("a"), finish()], ending="broken")
    assert await events_of(wire) == [TextDelta("a"), Finish("stop")]


@pytest.mark.parametrize(
    "chunk",
    [
        b"data: not json\n\n",
        b"data: [1]\n\n",
        b'data: {"choices":7}\n\n',
        b'data: {"choices":[{"delta":{"content":7}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"data: " + b"x" * 1_100_000 + b"\n\n",
    ],
)
async def test_nonsense_is_a_failure(
    upstream: Upstream, wire: OpenAICompatible, chunk: bytes
) -> None:
    upstream.answer = Answer([chunk, finish(), DONE])
    assert isinstance((await events_and_failure(wire))[1], UpstreamError)


async def test_an_answer_without_choices_is_a_failure(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream.answer = Answer([b'{"choices":[]}'], content_type=JSON)
    assert isinstance(await failure_of(wire), UpstreamError)


async def test_an_endless_answer_ends(upstream: Upstream, wire: OpenAICompatible) -> None:
    comment = b": " + b"x" * 500_000 + b"\n\n"
    upstream.answer = Answer([comment] * (MAX_ANSWER // len(comment) + 2))
    assert isinstance((await events_and_failure(wire))[1], UpstreamError)


async def test_nobody_listening_is_a_failure_that_may_be_tried_again(
    upstream: Upstream, wire: OpenAICompatible
) -> None:
    upstream._server.close()
    await upstream._server.wait_closed()
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable
    assert upstream.url not in str(failure)
