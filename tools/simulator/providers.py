"""All providers by name, which is the first part of their paths."""

from simulator import vendors
from simulator.anthropic_provider import Anthropic
from simulator.deepgram import Deepgram
from simulator.flux import BlackForestLabs
from simulator.google_provider import Google
from simulator.identity import IdentityProvider
from simulator.media.luma import Luma
from simulator.media.meshy import Meshy
from simulator.media.runway import Runway
from simulator.media.tripo import Tripo
from simulator.media.vertex_provider import Vertex
from simulator.operations import Renderer
from simulator.provider import Provider

# Providers with wires of their own; all others use OpenAI's.
_OTHERS: dict[str, Provider] = {
    "anthropic": Anthropic(),
    "bfl": BlackForestLabs(),
    "deepgram": Deepgram(),
    "google": Google(),
    "identity": IdentityProvider(),
    "luma": Luma(),
    "meshy": Meshy(),
    "renderer": Renderer(),
    "runway": Runway(),
    "tripo": Tripo(),
    "vertex": Vertex(),
}


def named(name: str) -> Provider:
    """The provider of this name; an unknown one behaves like OpenAI."""
    return _OTHERS.get(name) or vendors.named(name)


def speaks_openai(name: str) -> bool:
    """Does the provider use OpenAI's wire?"""
    return name not in _OTHERS
