"""Fixtures: an upstream on a real socket, and our side of the wire to it."""

from collections.abc import AsyncIterator, Callable

import pytest
from pytest_django import Settings

from ai.providers.config import SIMULATED_BY_DEFAULT, Flags, ProviderConfig, from_environ
from ai.providers.openai_compatible import OpenAICompatible
from ai.providers.registry import aclose, get_chat_wire
from ai.providers.types import ChatWire
from common.http import UpstreamClient
from common.tests.upstream import Upstream
from simulator.process import RunningSimulator

from .studio import Studio

MakeWire = Callable[..., OpenAICompatible]
WireOf = Callable[[str], ChatWire]


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as upstream:
        yield upstream


@pytest.fixture
async def client() -> AsyncIterator[UpstreamClient]:
    client = UpstreamClient()
    yield client
    await client.aclose()


@pytest.fixture
def make_wire(upstream: Upstream, client: UpstreamClient) -> MakeWire:
    """A wire to `upstream`; keywords are flags."""

    def make(**flags: object) -> OpenAICompatible:
        config = ProviderConfig(
            "openai",
            "openai_compatible",
            upstream.url,
            "sk-secret-of-the-platform",
            Flags(**flags),  # type: ignore[arg-type]
        )
        return OpenAICompatible(config, client)

    return make


@pytest.fixture
def wire(make_wire: MakeWire) -> OpenAICompatible:
    return make_wire()


@pytest.fixture
async def wire_of(settings: Settings, upstream: Upstream) -> AsyncIterator[WireOf]:
    """The chat wire of the named provider, configured as in the environment, to `upstream`."""

    def configured(name: str) -> ChatWire:
        environ = {f"{name.upper()}_API_KEY": "sk-secret", f"{name.upper()}_BASE_URL": upstream.url}
        settings.PROVIDERS = from_environ(environ, simulated=frozenset(), simulator_url="")
        wire = get_chat_wire(name)
        assert wire is not None
        return wire

    yield configured
    await aclose()


@pytest.fixture
async def studio(settings: Settings, simulator: RunningSimulator) -> AsyncIterator[Studio]:
    """The providers of videos and 3D models, at the simulator."""
    settings.PROVIDERS = from_environ(
        {}, simulated=SIMULATED_BY_DEFAULT, simulator_url=simulator.url
    )
    yield Studio(simulator)
    await aclose()
