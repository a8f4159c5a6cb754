"""Gemini's image wire: one picture a call, the last that is not a thought."""

import pytest

from ai.providers.config import ProviderConfig
from ai.providers.errors import NoPicture, RequestRefused, UpstreamError
from ai.providers.gemini_images import GeminiImages
from ai.providers.pictures import MAX_ANSWER
from ai.providers.types import ImageQuality, ImageSize
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Call, Upstream
from tests.stopwatch import Stopwatch

from .media import AMPLE, JPEG, PNG, WEBP, answer, base64_of, data_of, failure_of, image_request


@pytest.fixture
def wire(upstream: Upstream, client: UpstreamClient) -> GeminiImages:
    config = ProviderConfig("google", "gemini", upstream.url, "AIza-of-the-platform")
    return GeminiImages(config, client)


def picture(data: bytes, **fields: object) -> dict[str, object]:
    return {"inlineData": {"mimeType": "image/png", "data": base64_of(data)}, **fields}


def candidate(*parts: object, reason: str = "STOP") -> Answer:
    content = {"role": "model", "parts": parts}
    return answer({"candidates": [{"content": content, "finishReason": reason, "index": 0}]})


@pytest.mark.parametrize(
    ("size", "ratio"), [("1024x1024", "1:1"), ("1536x1024", "3:2"), ("1024x1536", "2:3")]
)
@pytest.mark.parametrize(
    ("quality", "resolution", "thinking"),
    [("low", "1K", {"thinkingLevel": "MINIMAL"}), ("standard", "1K", None), ("high", "2K", None)],
)
async def test_it_is_asked_in_its_own_words(
    upstream: Upstream,
    wire: GeminiImages,
    size: ImageSize,
    ratio: str,
    quality: ImageQuality,
    resolution: str,
    thinking: dict[str, str] | None,
) -> None:
    upstream.answer = candidate(picture(PNG))
    await wire.generate(image_request(1, size, quality), AMPLE)
    (call,) = upstream.calls
    assert call.path == "/v1/models/some-model:generateContent"
    assert call.headers["x-goog-api-key"] == "AIza-of-the-platform"
    generation = {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": ratio, "imageSize": resolution},
    }
    assert call.json == {
        "contents": [{"role": "user", "parts": [{"text": "A lighthouse"}]}],
        "generationConfig": generation | ({"thinkingConfig": thinking} if thinking else {}),
    }


async def test_drafts_and_thoughts_are_passed_over(upstream: Upstream, wire: GeminiImages) -> None:
    upstream.answer = candidate(
        picture(WEBP, thought=True),
        picture(JPEG),
        {"text": "Here it is."},
        picture(PNG, thoughtSignature="abc"),
        picture(WEBP, thought=True),
        {"text": "Enjoy."},
    )
    assert data_of(await wire.generate(image_request(), AMPLE)) == [PNG]


async def test_several_pictures_are_made_side_by_side(
    upstream: Upstream, wire: GeminiImages
) -> None:
    prepared = candidate(picture(PNG))
    prepared.delay = 0.3
    upstream.answer = prepared
    with Stopwatch() as watch:
        assert data_of(await wire.generate(image_request(4), AMPLE)) == [PNG] * 4
    assert watch.seconds < 0.9
    assert len(upstream.calls) == 4


async def test_what_was_made_is_delivered_though_others_failed(
    upstream: Upstream, wire: GeminiImages
) -> None:
    outcomes = iter(
        [answer({}, 503), candidate(picture(PNG)), candidate(reason="IMAGE_SAFETY"), answer([])]
    )

    def one_of(_: Call) -> Answer:
        return next(outcomes)

    upstream.answer = one_of
    assert data_of(await wire.generate(image_request(4), AMPLE)) == [PNG]


@pytest.mark.parametrize(
    "reason", ["SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT"]
)
async def test_what_moderation_withholds_is_blocked(
    upstream: Upstream, wire: GeminiImages, reason: str
) -> None:
    for document in (
        {"candidates": [{"finishReason": reason}]},
        {"candidates": [{"finishReason": reason, "content": {"parts": [picture(PNG)][:0]}}]},
        {"promptFeedback": {"blockReason": reason}},
    ):
        upstream.answer = answer(document)
        failure = await failure_of(wire)
        assert isinstance(failure, RequestRefused)
        assert failure.blocked


async def test_a_prompt_that_asks_for_no_picture_is_the_caller_s_to_mend(
    upstream: Upstream, wire: GeminiImages
) -> None:
    upstream.answer = candidate({"text": "What shall I draw?"}, reason="NO_IMAGE")
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert not failure.blocked


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"candidates": []},
        {"candidates": [{"finishReason": "IMAGE_OTHER"}]},
        {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "A"}]}}]},
        {"candidates": [{"content": {"parts": [{"inlineData": {}}]}}]},
        {"candidates": [{"content": {"parts": [picture(b"<svg/>")]}}]},
        {"candidates": [{"content": {"parts": [picture(PNG, thought=True)]}}]},
        {"candidates": [{"content": {"parts": 7}}]},
    ],
)
async def test_no_picture_is_a_failure(
    upstream: Upstream, wire: GeminiImages, document: object
) -> None:
    upstream.answer = answer(document)
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable


@pytest.mark.parametrize("reason", ["STOP", "IMAGE_OTHER"])
async def test_an_answer_in_words_alone_is_told_from_a_broken_one(
    upstream: Upstream, wire: GeminiImages, reason: str
) -> None:
    """Mostly it is the model that declines: no reason to spare its provider."""
    upstream.answer = candidate({"text": "I would rather not."}, reason=reason)
    assert isinstance(await failure_of(wire), NoPicture)
    upstream.answer = answer({})
    assert not isinstance(await failure_of(wire), NoPicture)


async def test_several_answers_together_are_no_longer_than_one_may_be(
    upstream: Upstream, wire: GeminiImages
) -> None:
    megabyte = b" " * 1_000_000
    upstream.answer = Answer([megabyte] * (MAX_ANSWER // 4_000_000 + 1), content_type=JSON)
    assert "longer than" in str(await failure_of(wire, image_request(4)))
