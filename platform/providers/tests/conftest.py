"""Fixtures: an upstream on a real socket, and our side of the wire to it."""

from collections.abc import AsyncIterator, Callable

import pytest

from common.http import UpstreamClient
from providers.config import Flags, ProviderConfig
from providers.openai_compatible import OpenAICompatible

from .upstream import Upstream

MakeWire = Callable[..., OpenAICompatible]


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
