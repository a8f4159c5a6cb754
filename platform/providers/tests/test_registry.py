"""From a provider's name to its wire."""

from pytest_django import Settings

from providers.config import from_environ
from providers.registry import aclose, get_chat_wire

from .calls import events_of
from .chunks import DONE, finish
from .upstream import Answer, Upstream


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
    settings.PROVIDERS = {}
    assert get_chat_wire("groq") is None
