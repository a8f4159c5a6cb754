"""Maps the name of a provider to its wires, as `settings.PROVIDERS` configures them."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from common.http import UpstreamClient
from providers.anthropic import Anthropic
from providers.config import ProviderConfig, Wire
from providers.deepgram import Deepgram
from providers.flux import Flux
from providers.gemini import Gemini
from providers.gemini_images import GeminiImages
from providers.luma import Luma
from providers.media import AssetOrder, MediaWire, VideoOrder
from providers.meshy import Meshy
from providers.openai_compatible import OpenAICompatible
from providers.openai_embeddings import OpenAIEmbeddings
from providers.openai_images import OpenAIImages
from providers.openai_speech import OpenAISpeech
from providers.runway import Runway
from providers.tripo import Tripo
from providers.types import ChatWire, EmbeddingWire, ImageWire, SpeechWire
from providers.veo import Veo
from providers.xai_images import XAIImages

_CHAT_WIRES: Mapping[Wire, Callable[[ProviderConfig, UpstreamClient], ChatWire]] = {
    "openai_compatible": OpenAICompatible,
    "anthropic": Anthropic,
    "gemini": Gemini,
}

# By provider: each has an image interface of its own.
_IMAGE_WIRES: Mapping[str, Callable[[ProviderConfig, UpstreamClient], ImageWire]] = {
    "openai": OpenAIImages,
    "xai": XAIImages,
    "google": GeminiImages,
    "bfl": Flux,
}

_SPEECH_WIRES: Mapping[str, Callable[[ProviderConfig, UpstreamClient], SpeechWire]] = {
    "openai": OpenAISpeech,
    "groq": OpenAISpeech,
    "local_speech": OpenAISpeech,
    "deepgram": Deepgram,
}

_VIDEO_WIRES: Mapping[str, Callable[[ProviderConfig, UpstreamClient], MediaWire[VideoOrder]]] = {
    "vertex": Veo,
    "runway": Runway,
    "luma": Luma,
}

_ASSET_WIRES: Mapping[str, Callable[[ProviderConfig, UpstreamClient], MediaWire[AssetOrder]]] = {
    "meshy": Meshy,
    "tripo": Tripo,
}

# Other providers with OpenAI's wire have no embeddings, or accept only a few texts at a time.
_EMBEDDING_PROVIDERS = frozenset({"openai", "mistral", "openrouter", "together", "ollama", "vllm"})

_client = UpstreamClient()


def get_chat_wire(provider: str) -> ChatWire | None:
    """The chat wire of that provider, or None where it is not configured."""
    return _chat_wires().get(provider)


def get_embedding_wire(provider: str) -> EmbeddingWire | None:
    """The embeddings wire of that provider, or None where it is not configured or has none."""
    return _embedding_wires().get(provider)


def get_image_wire(provider: str) -> ImageWire | None:
    """The image wire of that provider, or None where it is not configured or has none."""
    return _image_wires().get(provider)


def get_speech_wire(provider: str) -> SpeechWire | None:
    """The speech wire of that provider, or None where it is not configured or has none."""
    return _speech_wires().get(provider)


def get_video_wire(provider: str) -> MediaWire[VideoOrder] | None:
    """The video wire of that provider, or None where it is not configured or has none."""
    return _video_wires().get(provider)


def get_asset_wire(provider: str) -> MediaWire[AssetOrder] | None:
    """The wire of that provider for 3D models, or None where it is not configured or has none."""
    return _asset_wires().get(provider)


async def aclose() -> None:
    """Close the running event loop's connections to the providers."""
    await _client.aclose()


@functools.cache
def _chat_wires() -> Mapping[str, ChatWire]:
    return {
        name: _CHAT_WIRES[config.wire](config, _client)
        for name, config in settings.PROVIDERS.items()
        if config.wire
    }


@functools.cache
def _embedding_wires() -> Mapping[str, EmbeddingWire]:
    return {
        name: OpenAIEmbeddings(config, _client)
        for name, config in settings.PROVIDERS.items()
        if name in _EMBEDDING_PROVIDERS
    }


@functools.cache
def _image_wires() -> Mapping[str, ImageWire]:
    return {
        name: _IMAGE_WIRES[name](config, _client)
        for name, config in settings.PROVIDERS.items()
        if name in _IMAGE_WIRES
    }


@functools.cache
def _speech_wires() -> Mapping[str, SpeechWire]:
    return {
        name: _SPEECH_WIRES[name](config, _client)
        for name, config in settings.PROVIDERS.items()
        if name in _SPEECH_WIRES
    }


@functools.cache
def _video_wires() -> Mapping[str, MediaWire[VideoOrder]]:
    return {
        name: _VIDEO_WIRES[name](config, _client)
        for name, config in settings.PROVIDERS.items()
        if name in _VIDEO_WIRES
    }


@functools.cache
def _asset_wires() -> Mapping[str, MediaWire[AssetOrder]]:
    return {
        name: _ASSET_WIRES[name](config, _client)
        for name, config in settings.PROVIDERS.items()
        if name in _ASSET_WIRES
    }


_CACHES = (
    _chat_wires,
    _embedding_wires,
    _image_wires,
    _speech_wires,
    _video_wires,
    _asset_wires,
)


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "PROVIDERS":
        for wires in _CACHES:
            wires.cache_clear()


setting_changed.connect(_forget)
