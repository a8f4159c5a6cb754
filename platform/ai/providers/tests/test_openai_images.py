"""OpenAI's and xAI's image wires: what goes out, and what is delivered of what comes back."""

import pytest

from ai.providers.config import ProviderConfig
from ai.providers.errors import RequestRefused, UpstreamError
from ai.providers.openai_images import OpenAIImages
from ai.providers.pictures import MAX_ANSWER
from ai.providers.types import Image, ImageQuality, ImageSize
from ai.providers.xai_images import XAIImages
from common.http import UpstreamClient
from common.tests.upstream import JSON, Answer, Upstream

from .media import AMPLE, JPEG, PNG, WEBP, answer, base64_of, data_of, failure_of, image_request


@pytest.fixture
def openai(upstream: Upstream, client: UpstreamClient) -> OpenAIImages:
    config = ProviderConfig("openai", "openai_compatible", upstream.url, "sk-of-the-platform")
    return OpenAIImages(config, client)


@pytest.fixture
def xai(upstream: Upstream, client: UpstreamClient) -> XAIImages:
    config = ProviderConfig("xai", "openai_compatible", upstream.url, "xai-of-the-platform")
    return XAIImages(config, client)


@pytest.mark.parametrize("size", ["1024x1024", "1536x1024", "1024x1536"])
@pytest.mark.parametrize(
    ("quality", "sent"), [("low", "low"), ("standard", "medium"), ("high", "high")]
)
async def test_openai_is_asked_in_its_own_words(
    upstream: Upstream, openai: OpenAIImages, size: ImageSize, quality: ImageQuality, sent: str
) -> None:
    upstream.answer = answer({"data": [{"b64_json": base64_of(PNG)}]})
    await openai.generate(image_request(1, size, quality), AMPLE)
    (call,) = upstream.calls
    assert (call.method, call.path) == ("POST", "/v1/images/generations")
    assert call.headers["authorization"] == "Bearer sk-of-the-platform"
    assert call.json == {
        "model": "some-model",
        "prompt": "A lighthouse",
        "n": 1,
        "size": size,
        "quality": sent,
        "output_format": "png",
    }


@pytest.mark.parametrize(
    ("size", "ratio"), [("1024x1024", "1:1"), ("1536x1024", "3:2"), ("1024x1536", "2:3")]
)
@pytest.mark.parametrize(
    ("quality", "resolution", "sent"),
    [("low", "1k", "low"), ("standard", "1k", "medium"), ("high", "2k", "medium")],
)
async def test_xai_is_asked_in_its_own_words(
    upstream: Upstream,
    xai: XAIImages,
    size: ImageSize,
    ratio: str,
    quality: ImageQuality,
    resolution: str,
    sent: str,
) -> None:
    upstream.answer = answer({"data": [{"b64_json": base64_of(JPEG)}]})
    await xai.generate(image_request(1, size, quality), AMPLE)
    (call,) = upstream.calls
    assert call.path == "/v1/images/generations"
    assert call.headers["authorization"] == "Bearer xai-of-the-platform"
    assert call.json == {
        "model": "some-model",
        "prompt": "A lighthouse",
        "n": 1,
        "aspect_ratio": ratio,
        "resolution": resolution,
        "quality": sent,
        "response_format": "b64_json",
    }


async def test_the_pictures_come_in_order_and_as_what_they_are(
    upstream: Upstream, openai: OpenAIImages
) -> None:
    items = [{"b64_json": base64_of(data), "revised_prompt": None} for data in (JPEG, PNG, WEBP)]
    upstream.answer = answer({"created": 1, "output_format": "png", "data": items, "usage": {}})
    assert await openai.generate(image_request(3), AMPLE) == [
        Image(JPEG, "image/jpeg"),
        Image(PNG, "image/png"),
        Image(WEBP, "image/webp"),
    ]


async def test_fewer_pictures_than_asked_are_what_was_delivered(
    upstream: Upstream, openai: OpenAIImages
) -> None:
    items = [
        {"b64_json": "not base64"},
        {"b64_json": base64_of(PNG)},
        {"b64_json": None},
        {"url": "https://example.com/a.png"},
    ]
    upstream.answer = answer({"data": items})
    assert data_of(await openai.generate(image_request(4), AMPLE)) == [PNG]


async def test_more_pictures_than_asked_are_left(upstream: Upstream, openai: OpenAIImages) -> None:
    upstream.answer = answer({"data": [{"b64_json": base64_of(PNG)}] * 3})
    assert data_of(await openai.generate(image_request(2), AMPLE)) == [PNG, PNG]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{}],
        [{"b64_json": ""}],
        [{"b64_json": base64_of(b"<svg/>")}],
        [{"b64_json": base64_of(PNG)[:-1]}],
    ],
)
async def test_no_picture_at_all_is_a_failure(
    upstream: Upstream, openai: OpenAIImages, items: list[object]
) -> None:
    upstream.answer = answer({"data": items})
    failure = await failure_of(openai)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable


async def test_a_picture_that_xai_withholds_is_not_delivered(
    upstream: Upstream, xai: XAIImages
) -> None:
    kept = {"b64_json": base64_of(PNG), "respect_moderation": True}
    withheld = {"b64_json": base64_of(JPEG), "respect_moderation": False}
    upstream.answer = answer({"data": [withheld, kept]})
    assert data_of(await xai.generate(image_request(2), AMPLE)) == [PNG]
    upstream.answer = answer({"data": [withheld, {"respect_moderation": False}]})
    failure = await failure_of(xai, image_request(2))
    assert isinstance(failure, RequestRefused)
    assert failure.blocked


@pytest.mark.parametrize(
    "refusal",
    [
        {"error": {"code": "moderation_blocked", "message": "No.", "type": "image_error"}},
        {"error": {"code": "content_policy_violation", "message": "No."}},
        {"code": "invalid-argument", "error": "Generated image rejected by content moderation."},
    ],
)
async def test_what_moderation_refuses_is_blocked(
    upstream: Upstream, openai: OpenAIImages, refusal: dict[str, object]
) -> None:
    upstream.answer = answer(refusal, 400)
    failure = await failure_of(openai)
    assert isinstance(failure, RequestRefused)
    assert failure.blocked


async def test_an_endless_answer_ends(upstream: Upstream, openai: OpenAIImages) -> None:
    megabyte = b" " * 1_000_000
    upstream.answer = Answer([megabyte] * (MAX_ANSWER // len(megabyte) + 1), content_type=JSON)
    assert "longer than" in str(await failure_of(openai))
