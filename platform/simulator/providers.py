"""All providers by name, which is the first part of their paths."""

from simulator import vendors
from simulator.anthropic_provider import Anthropic
from simulator.deepgram import Deepgram
from simulator.flux import BlackForestLabs
from simulator.google_provider import Google
from simulator.identity import IdentityProvider
from simulator.operations import Renderer
from simulator.provider import Provider

# Providers with wires of their own; all others use OpenAI's.
_OTHERS: dict[str, Provider] = {
    "anthropic": Anthropic(),
    "bfl": BlackForestLabs(),
    "deepgram": Deepgram(),
    "google": Google(),
    "identity": IdentityProvider(),
    "renderer": Renderer(),
}


def named(name: str) -> Provider:
    """The provider of this name; an unknown one behaves like OpenAI."""
    return _OTHERS.get(name) or vendors.named(name)


def speaks_openai(name: str) -> bool:
    """Does the provider use OpenAI's wire?"""
    return name not in _OTHERS
