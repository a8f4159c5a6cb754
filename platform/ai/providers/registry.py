"""Maps the name of a provider to its wires, as `settings.PROVIDERS` configures them."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.core.signals import setting_changed

from ai.providers.anthropic import Anthropic
from ai.providers.config import ProviderConfig, Wire
from ai.providers.deepgram import Deepgram
from ai.providers.flux import Flux
from ai.providers.gemini import Gemini
from ai.providers.gemini_images import GeminiImages
from ai.providers.keys import KeyId, keys_of
from ai.providers.luma import Luma
from ai.providers.media import AssetOrder, MediaWire, VideoOrder
from ai.providers.meshy import Meshy
from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.openai_embeddings import OpenAIEmbeddings
from ai.providers.openai_images import OpenAIImages
from ai.providers.openai_speech import OpenAISpeech
from ai.providers.rotation import (
    RotatingChat,
    RotatingEmbeddings,
    RotatingImages,
    RotatingMedia,
    RotatingSpeech,
)
from ai.providers.runway import Runway
from ai.providers.tripo import Tripo
from ai.providers.types import ChatWire, EmbeddingWire, ImageWire, SpeechWire
from ai.providers.veo import Veo
from ai.providers.xai_images import XAIImages
from common.http import UpstreamClient

T = TypeVar("T")

_Maker = Callable[[ProviderConfig, UpstreamClient], T]

_CHAT_WIRES: Mapping[Wire, _Maker[ChatWire]] = {
    "openai_compatible": OpenAICompatible,
    "anthropic": Anthropic,
    "gemini": Gemini,
}

# By provider: each has an image interface of its own.
_IMAGE_WIRES: Mapping[str, _Maker[ImageWire]] = {
    "openai": OpenAIImages,
    "xai": XAIImages,
    "google": GeminiImages,
    "bfl": Flux,
}

_SPEECH_WIRES: Mapping[str, _Maker[SpeechWire]] = {
    "openai": OpenAISpeech,
    "groq": OpenAISpeech,
    "local_speech": OpenAISpeech,
    "deepgram": Deepgram,
}

_VIDEO_WIRES: Mapping[str, _Maker[MediaWire[VideoOrder]]] = {
    "vertex": Veo,
    "runway": Runway,
    "luma": Luma,
}

_ASSET_WIRES: Mapping[str, _Maker[MediaWire[AssetOrder]]] = {
    "meshy": Meshy,
    "tripo": Tripo,
}

# Other providers with OpenAI's wire have no embeddings, or accept only a few texts at a time.
_EMBEDDING_WIRES: Mapping[str, _Maker[EmbeddingWire]] = dict.fromkeys(
    ("openai", "mistral", "openrouter", "together", "ollama", "vllm"), OpenAIEmbeddings
)

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


def get_keys(provider: str) -> list[KeyId]:
    """The names of our keys at that provider, in the order of their use."""
    config = settings.PROVIDERS.get(provider)
    return keys_of(provider, filter(None, config.api_keys)) if config else []


async def aclose() -> None:
    """Close the running event loop's connections to the providers."""
    await _client.aclose()


@functools.cache
def _chat_wires() -> Mapping[str, ChatWire]:
    providers = settings.PROVIDERS.items()
    makers = {name: _CHAT_WIRES[config.wire] for name, config in providers if config.wire}
    return _wires(makers, RotatingChat)


@functools.cache
def _embedding_wires() -> Mapping[str, EmbeddingWire]:
    return _wires(_EMBEDDING_WIRES, RotatingEmbeddings)


@functools.cache
def _image_wires() -> Mapping[str, ImageWire]:
    return _wires(_IMAGE_WIRES, RotatingImages)


@functools.cache
def _speech_wires() -> Mapping[str, SpeechWire]:
    return _wires(_SPEECH_WIRES, RotatingSpeech)


@functools.cache
def _video_wires() -> Mapping[str, MediaWire[VideoOrder]]:
    return _wires(_VIDEO_WIRES, RotatingMedia)


@functools.cache
def _asset_wires() -> Mapping[str, MediaWire[AssetOrder]]:
    return _wires(_ASSET_WIRES, RotatingMedia)


def _wires(
    makers: Mapping[str, _Maker[T]], rotating: Callable[[Sequence[KeyId], Sequence[T]], T]
) -> dict[str, T]:
    """The wires of one kind by provider, for those that are configured. A wire uses the keys of its
    provider one after the other where it has several."""
    wires = {}
    for name, config in settings.PROVIDERS.items():
        if maker := makers.get(name):
            first, *others = (maker(each, _client) for each in config.with_each_key())
            keys = keys_of(name, config.api_keys)
            wires[name] = rotating(keys, [first, *others]) if others else first
    return wires


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
