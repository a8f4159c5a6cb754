"""From a provider's name to its wires, as `settings.PROVIDERS` configures them."""

import functools
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from common.http import UpstreamClient
from providers.openai_compatible import OpenAICompatible
from providers.types import ChatWire

_WIRES = {"openai_compatible": OpenAICompatible}

_client = UpstreamClient()


def get_chat_wire(provider: str) -> ChatWire | None:
    """The chat wire of that provider, or None where it is not configured."""
    return _chat_wires().get(provider)


async def aclose() -> None:
    """Close the running event loop's connections to the providers."""
    await _client.aclose()


@functools.cache
def _chat_wires() -> Mapping[str, ChatWire]:
    return {
        name: _WIRES[config.wire](config, _client)
        for name, config in settings.PROVIDERS.items()
        if config.wire in _WIRES
    }


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "PROVIDERS":
        _chat_wires.cache_clear()


setting_changed.connect(_forget)
