"""A running service whose provider answers with prepared bytes."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from accounts.features import KeyFeature
from ai.providers.tests import chunks
from common.tests.upstream import Upstream
from publicapi.tests.v1 import wire
from publicapi.tests.v1.customer import Customer, new_customer
from simulator.process import RunningSimulator
from tests.service import Web, running_web

HELLO = [chunks.text("Hel"), chunks.text("lo"), chunks.finish(usage=chunks.usage()), chunks.DONE]


@dataclass(frozen=True)
class Scripted:
    """The service, its client, and the provider in place of the simulator."""

    web: Web
    http: httpx.Client
    upstream: Upstream
    simulator: RunningSimulator

    def new_customer(self, *, features: tuple[KeyFeature, ...] = ()) -> Customer:
        return new_customer(self.http, self.web, self.simulator, features=features)


@contextmanager
def running_scripted(simulator: RunningSimulator) -> Iterator[Scripted]:
    """Both of them until the block ends."""
    with (
        _running_upstream() as upstream,
        running_web(simulator, SIMULATOR_URL=upstream.url) as web,
        wire.client(web.url) as http,
    ):
        yield Scripted(web, http, upstream, simulator)


@contextmanager
def _running_upstream() -> Iterator[Upstream]:
    """The provider, in a thread of its own."""
    upstream = Upstream()
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with upstream:
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait(5)
    try:
        yield upstream
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
