"""Embeddings and image wires against the simulator, which knows none of our code."""

import json
import struct
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from ai.providers.config import from_environ
from ai.providers.errors import ProviderError, RequestRefused, UpstreamError
from ai.providers.registry import aclose, get_embedding_wire, get_image_wire
from ai.providers.types import (
    Deadlines,
    EmbeddingRequest,
    Embeddings,
    Image,
    ImageQuality,
    ImageRequest,
    ImageSize,
)
from ai.providers.vectors import decoded, dimensions_of
from simulator.process import RunningSimulator

PATIENT = Deadlines(connect=2.0, total=20.0)

MODELS = {
    "openai": "gpt-image-2.5-flare",
    "xai": "grok-imagine-image-2.0",
    "google": "gemini-nano-banana-2.1",
    "bfl": "flux-2-pro",
}
every_provider = pytest.mark.parametrize("provider", MODELS)


class Simulated:
    """Providers at the simulator, and a marker for this test's calls."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self._simulator = simulator
        self._marker = uuid4().hex

    async def draw(
        self,
        provider: str,
        n: int = 1,
        size: ImageSize = "1024x1024",
        quality: ImageQuality = "standard",
        **options: Any,
    ) -> list[Image]:
        wire = get_image_wire(provider)
        assert wire is not None
        prompt = f"A lighthouse\n{self._steering({'polls': 0} | options)}"
        request = ImageRequest(MODELS[provider], prompt, n, size, quality)
        return await wire.generate(request, PATIENT)

    async def embed(self, *texts: str, asked: int | None = None, **options: Any) -> Embeddings:
        """The vectors of those texts and of the steering line; `asked` are the dimensions."""
        wire = get_embedding_wire("openai")
        assert wire is not None
        inputs = (*texts, self._steering(options))
        request = EmbeddingRequest("text-embedding-3-small", inputs, asked)
        return await wire.embed(request, PATIENT)

    def total(self, counter: str) -> int:
        """What the simulator says it emitted, over all calls of this test."""
        return sum(call[counter] for call in self._simulator.calls(self._marker))

    @property
    def calls(self) -> int:
        return len(self._simulator.calls(self._marker))

    def _steering(self, options: dict[str, Any]) -> str:
        return f"@sim {json.dumps({'marker': self._marker} | options)}"


@pytest.fixture
async def simulated(settings: Settings, simulator: RunningSimulator) -> AsyncIterator[Simulated]:
    settings.PROVIDERS = from_environ({}, simulated=frozenset(MODELS), simulator_url=simulator.url)
    yield Simulated(simulator)
    await aclose()


def pixels_of(png: Image) -> tuple[int, int]:
    assert png.media_type == "image/png"
    width, height = struct.unpack(">II", png.data[16:24])
    return width, height


@every_provider
@pytest.mark.parametrize(
    ("size", "quality", "ratio"),
    [("1024x1024", "low", 1.0), ("1536x1024", "standard", 1.5), ("1024x1536", "high", 1 / 1.5)],
)
async def test_a_picture_has_the_shape_that_was_asked(
    simulated: Simulated, provider: str, size: ImageSize, quality: ImageQuality, ratio: float
) -> None:
    (picture,) = await simulated.draw(provider, 1, size, quality)
    width, height = pixels_of(picture)
    assert width / height == pytest.approx(ratio, rel=0.02)
    assert simulated.total("images_emitted") == 1


@every_provider
async def test_as_many_pictures_come_as_were_emitted(simulated: Simulated, provider: str) -> None:
    pictures = await simulated.draw(provider, 4)
    assert len({picture.data for picture in pictures}) == 4
    assert simulated.total("images_emitted") == 4


@every_provider
async def test_fewer_pictures_than_asked_are_delivered(simulated: Simulated, provider: str) -> None:
    assert len(await simulated.draw(provider, 4, pictures=2)) == 2
    assert simulated.total("images_emitted") == 2


@every_provider
@pytest.mark.parametrize("options", [{"blocked": True}, {"refusal": True}])
async def test_what_moderation_stops_is_blocked(
    simulated: Simulated, provider: str, options: dict[str, Any]
) -> None:
    with pytest.raises(RequestRefused) as refused:
        await simulated.draw(provider, 2, **options)
    assert refused.value.blocked


@every_provider
@pytest.mark.parametrize(
    ("options", "retryable"),
    [
        ({"fail": "before", "status": 503}, True),
        ({"fail": "before", "status": 429, "retry_after": 2}, True),
        ({"fail": "before", "status": 500}, False),
        ({"drop": True}, False),
        ({"bad_json": True}, False),
        ({"truncate": True}, False),
        ({"error_in_200": True}, False),
        ({"no_picture": True}, False),
    ],
)
async def test_a_failure_is_retried_only_where_nothing_was_made(
    simulated: Simulated, provider: str, options: dict[str, Any], retryable: bool
) -> None:
    with pytest.raises(ProviderError) as failure:
        await simulated.draw(provider, **options)
    assert isinstance(failure.value, UpstreamError)
    assert failure.value.retryable is retryable
    assert simulated.calls == 1


@pytest.mark.parametrize("provider", ["openai", "xai", "google"])
async def test_a_picture_in_broken_base64_is_none(simulated: Simulated, provider: str) -> None:
    with pytest.raises(UpstreamError):
        await simulated.draw(provider, bad_b64=True)


async def test_a_picture_that_is_gone_is_a_failure(simulated: Simulated) -> None:
    with pytest.raises(UpstreamError) as failure:
        await simulated.draw("bfl", missing=True)
    assert not failure.value.retryable


async def test_gemini_s_drafts_are_passed_over(simulated: Simulated) -> None:
    assert len(await simulated.draw("google", drafts=3)) == 1


async def test_vectors_and_tokens_are_what_was_emitted(simulated: Simulated) -> None:
    embeddings = await simulated.embed("One text", "another text", "One text")
    assert embeddings.vectors[0] == embeddings.vectors[2] != embeddings.vectors[1]
    assert {dimensions_of(vector) for vector in embeddings.vectors} == {1536}
    assert simulated.total("vectors_emitted") == 4
    assert simulated.total("prompt_tokens") == embeddings.input_tokens


async def test_dimensions_are_kept_whether_the_provider_heeds_them_or_not(
    simulated: Simulated,
) -> None:
    """A longer vector begins as a shorter one does, but for its scale."""
    heeded = await simulated.embed("One text", asked=8)
    ignored = await simulated.embed("One text", asked=8, dimensions=1536)
    assert decoded(ignored.vectors[0]) == pytest.approx(decoded(heeded.vectors[0]), rel=1e-5)


async def test_texts_of_many_tokens_are_several_calls_and_nothing_is_lost(
    simulated: Simulated,
) -> None:
    texts = [f"{number} " * 6_000 for number in range(60)]
    embeddings = await simulated.embed(*texts)
    assert len(set(embeddings.vectors)) == 61
    assert embeddings.input_tokens is not None
    assert embeddings.input_tokens > 60 * 6_000


async def test_a_text_over_the_model_s_context_is_too_long(simulated: Simulated) -> None:
    with pytest.raises(RequestRefused) as refused:
        await simulated.embed("a " * 9_000)
    assert refused.value.too_long


@pytest.mark.parametrize(
    ("options", "counted"), [({"no_usage": True}, None), ({"zero_usage": True}, 0)]
)
async def test_usage_that_is_missing_is_unknown_and_nothing_is_nothing(
    simulated: Simulated, options: dict[str, Any], counted: int | None
) -> None:
    assert (await simulated.embed("One text", **options)).input_tokens == counted


@pytest.mark.parametrize(
    "options",
    [
        {"vectors": 1},
        {"vectors": 3},
        {"vectors": 0},
        {"drop": True},
        {"bad_json": True},
        {"truncate": True},
        {"error_in_200": True},
        {"fail": "before"},
    ],
)
async def test_no_whole_answer_is_a_failure(simulated: Simulated, options: dict[str, Any]) -> None:
    with pytest.raises(UpstreamError):
        await simulated.embed("One text", **options)
