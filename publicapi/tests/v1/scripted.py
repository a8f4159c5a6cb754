"""A provider that answers with prepared bytes, beside the tests that call the running service."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from providers.tests.upstream import Upstream


@contextmanager
def running_upstream() -> Iterator[Upstream]:
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
