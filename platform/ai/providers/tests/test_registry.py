"""From a provider's name to its wires."""

import pytest
from pytest_django import Settings

from ai.providers.config import PROVIDERS, ProviderConfig, from_environ
from ai.providers.flux import Flux
from ai.providers.gemini_images import GeminiImages
from ai.providers.luma import Luma
from ai.providers.meshy import Meshy
from ai.providers.openai_embeddings import OpenAIEmbeddings
from ai.providers.openai_images import OpenAIImages
from ai.providers.registry import (
    aclose,
    get_asset_wire,
    get_chat_wire,
    get_embedding_wire,
    get_image_wire,
    get_video_wire,
)
from ai.providers.runway import Runway
from ai.providers.tripo import Tripo
from ai.providers.veo import Veo
from ai.providers.xai_images import XAIImages
from common.tests.upstream import Answer, Upstream

from .calls import events_of
from .chunks import DONE, finish

WITH_EMBEDDINGS = ("openai", "mistral", "openrouter", "together", "ollama", "vllm")


def configured(provider: str) -> dict[str, ProviderConfig]:
    environ = {f"{provider.upper()}_{what}": "x" for what in ("API_KEY", "BASE_URL")}
    return from_environ(environ, simulated=frozenset(), simulator_url="")


async def test_a_configured_provider_answers_and_others_are_absent(
    settings: Settings, upstream: Upstream
) -> None:
    environ = {"GROQ_API_KEY": "k", "GROQ_BASE_URL": upstream.url}
    settings.PROVIDERS = from_environ(environ, simulated=frozenset(), simulator_url="")
    upstream.answer = Answer([finish(), DONE])
    wire = get_chat_wire("groq")
    assert wire is not None
    assert await events_of(wire)
    assert get_chat_wire("openai") is None
    assert get_chat_wire("groq") is wire
    await aclose()


def test_settings_that_change_are_followed(settings: Settings) -> None:
    settings.PROVIDERS = from_environ(
        {"GROQ_API_KEY": "k"}, simulated=frozenset(), simulator_url=""
    )
    assert get_chat_wire("groq")
    settings.PROVIDERS = from_environ(
        {"OPENAI_API_KEY": "k"}, simulated=frozenset(), simulator_url=""
    )
    assert get_chat_wire("groq") is None
    assert get_embedding_wire("openai")
    assert get_image_wire("openai")
    settings.PROVIDERS = {}
    assert get_embedding_wire("openai") is None
    assert get_image_wire("openai") is None


@pytest.mark.parametrize(
    ("provider", "wire"),
    [("openai", OpenAIImages), ("xai", XAIImages), ("google", GeminiImages), ("bfl", Flux)],
)
def test_each_provider_of_pictures_has_its_own_wire(
    settings: Settings, provider: str, wire: type
) -> None:
    environ = {f"{provider.upper()}_API_KEY": "k"}
    settings.PROVIDERS = from_environ(environ, simulated=frozenset(), simulator_url="")
    assert type(get_image_wire(provider)) is wire
    assert get_image_wire("groq") is None


def test_who_makes_pictures_alone_has_no_chat_wire(settings: Settings) -> None:
    settings.PROVIDERS = configured("bfl")
    assert get_image_wire("bfl")
    assert get_chat_wire("bfl") is None


@pytest.mark.parametrize(
    ("provider", "wire"), [("vertex", Veo), ("runway", Runway), ("luma", Luma)]
)
def test_each_provider_of_videos_has_its_own_wire(
    settings: Settings, provider: str, wire: type
) -> None:
    settings.PROVIDERS = configured(provider)
    assert type(get_video_wire(provider)) is wire
    assert get_asset_wire(provider) is None
    assert get_chat_wire(provider) is None
    settings.PROVIDERS = {}
    assert get_video_wire(provider) is None


@pytest.mark.parametrize(("provider", "wire"), [("meshy", Meshy), ("tripo", Tripo)])
def test_each_provider_of_3d_models_has_its_own_wire(
    settings: Settings, provider: str, wire: type
) -> None:
    settings.PROVIDERS = configured(provider)
    assert type(get_asset_wire(provider)) is wire
    assert get_video_wire(provider) is None
    assert get_chat_wire(provider) is None
    settings.PROVIDERS = {}
    assert get_asset_wire(provider) is None


@pytest.mark.parametrize("provider", WITH_EMBEDDINGS)
def test_who_offers_embeddings_has_a_wire_for_them(settings: Settings, provider: str) -> None:
    settings.PROVIDERS = configured(provider)
    assert isinstance(get_embedding_wire(provider), OpenAIEmbeddings)


@pytest.mark.parametrize("provider", sorted(PROVIDERS.keys() - WITH_EMBEDDINGS))
def test_who_offers_none_has_no_wire_for_them(settings: Settings, provider: str) -> None:
    settings.PROVIDERS = configured(provider)
    assert provider in settings.PROVIDERS
    assert get_embedding_wire(provider) is None
