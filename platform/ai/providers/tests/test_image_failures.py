"""How every image wire fails, whatever its words: never paid for twice, always in time."""

import time
from collections.abc import Callable

import pytest

from ai.providers.config import ProviderConfig
from ai.providers.errors import AnswerUnusable, ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.flux import Flux
from ai.providers.gemini_images import GeminiImages
from ai.providers.openai_images import OpenAIImages
from ai.providers.types import Deadlines, ImageWire
from ai.providers.xai_images import XAIImages
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Upstream

from .media import answer, failure_of, image_request

MakeImageWire = Callable[[ProviderConfig, UpstreamClient], ImageWire]


@pytest.fixture(params=[OpenAIImages, XAIImages, GeminiImages, Flux])
def wire(request: pytest.FixtureRequest, upstream: Upstream, client: UpstreamClient) -> ImageWire:
    make: MakeImageWire = request.param
    config = ProviderConfig("any", "openai_compatible", upstream.url, "key-of-the-platform")
    return make(config, client)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(429, True), (503, True), (302, False), (408, False), (500, False), (502, False)],
)
async def test_only_a_call_that_was_turned_away_may_be_made_again(
    upstream: Upstream, wire: ImageWire, status: int, retryable: bool
) -> None:
    upstream.answer = answer({"error": {"message": "busy"}}, status)
    upstream.answer.headers["Retry-After"] = "3"
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable is retryable
    assert failure.retry_after == 3.0
    assert len(upstream.calls) == 1


async def test_nobody_listening_may_be_tried_again(upstream: Upstream, wire: ImageWire) -> None:
    upstream._server.close()
    await upstream._server.wait_closed()
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert failure.retryable


@pytest.mark.parametrize("broken", [Answer(ending="broken"), Answer([b"{"], ending="broken")])
async def test_a_connection_that_breaks_after_the_call_may_not(
    upstream: Upstream, wire: ImageWire, broken: Answer
) -> None:
    upstream.answer = broken
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not isinstance(failure, AnswerUnusable)
    assert not failure.retryable
    assert len(upstream.calls) == 1


async def test_a_call_goes_over_a_connection_of_its_own(
    upstream: Upstream, wire: ImageWire
) -> None:
    """A kept one may be dead, and a call that it lost would have to be sent again."""
    upstream.answer = answer({})
    for _ in range(3):
        await failure_of(wire)
    assert upstream.connections == len(upstream.calls) == 3


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_provider_that_does_not_serve_us_is_unavailable(
    upstream: Upstream, wire: ImageWire, status: int
) -> None:
    upstream.answer = answer({"error": {"message": "No"}}, status)
    assert isinstance(await failure_of(wire), ProviderUnavailable)


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (400, {"error": {"message": "Invalid prompt.", "code": "invalid_value"}}),
        (422, {"detail": [{"loc": ["body", "prompt"], "msg": "No", "type": "value_error"}]}),
    ],
)
async def test_what_the_caller_can_mend_is_refused(
    upstream: Upstream, wire: ImageWire, status: int, document: object
) -> None:
    upstream.answer = answer(document, status)
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert not failure.blocked


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b'{"data":null,"candidates":7,"polling_url":[]}',
        b"[" * 100_000,
        b'{"data":[{"b64_json":"\xff"}],"candidates":"\xff","polling_url":"\xff"}',
        b"x" * 10_000_000,
        b'{"data":"' + b"x" * 10_000_000,
        b'{"error":{"code":"server_error","message":"Oh no"}}',
    ],
)
async def test_junk_is_a_failure_that_is_not_tried_again(
    upstream: Upstream, wire: ImageWire, body: bytes
) -> None:
    upstream.answer = Answer([body], content_type=JSON)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    # It came, unless it is longer than any answer: it is not told as lost.
    assert isinstance(failure, AnswerUnusable) or "longer than" in str(failure)


@pytest.mark.parametrize(
    "prepared",
    [
        Answer(delay=30.0),
        Answer([b"{"], content_type=JSON, ending="hanging"),
        Answer([b" ", 0.1] * 100, content_type=JSON),
        Answer([b" ", 0.1] * 100, status=503, content_type=JSON),
    ],
)
async def test_a_provider_that_hangs_or_drips_is_left_in_time(
    upstream: Upstream, wire: ImageWire, prepared: Answer
) -> None:
    upstream.answer = prepared
    started = time.monotonic()
    failure = await failure_of(wire, deadlines=Deadlines(connect=2.0, total=0.3))
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert time.monotonic() - started < 2.0


async def test_the_key_is_in_no_message(upstream: Upstream, wire: ImageWire) -> None:
    upstream.answer = answer({"error": {"message": "Bad: Bearer key-of-the-platform"}}, 400)
    assert "of-the-platform" not in str(await failure_of(wire, image_request(2)))
