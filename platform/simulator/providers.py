"""Every provider by its name, the first part of its paths."""

from simulator import vendors
from simulator.anthropic_provider import Anthropic
from simulator.deepgram import Deepgram
from simulator.flux import BlackForestLabs
from simulator.google_provider import Google
from simulator.identity import IdentityProvider
from simulator.provider import Provider

# These have wires of their own; whoever else there is speaks OpenAI's.
_OTHERS: dict[str, Provider] = {
    "anthropic": Anthropic(),
    "bfl": BlackForestLabs(),
    "deepgram": Deepgram(),
    "google": Google(),
    "identity": IdentityProvider(),
}


def named(name: str) -> Provider:
    """A provider; one that is not known speaks as OpenAI does."""
    return _OTHERS.get(name) or vendors.named(name)


def speaks_openai(name: str) -> bool:
    """Does it share OpenAI's wire?"""
    return name not in _OTHERS
