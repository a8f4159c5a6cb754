"""The yardstick of live sockets: a bare Channels consumer, fed from memory.

There is no authentication and no storage. `FEED` is the feed. Run as `uvicorn
bench.socket_yardstick:application`.
"""

import asyncio
import os
from collections import defaultdict

from django.conf import settings

from bench.feed import Feed

# Set before Channels reads them: no channel layer, and none of the service's apps. The other
# settings are read by the server, which checks for refused clients.
settings.configure(TRUSTED_PROXY_HOPS=0, REDIS_URL=os.environ["REDIS_URL"])

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter  # noqa: E402

_feed = Feed.of(os.environ)
_listeners: dict[int, set["Consumer"]] = defaultdict(set)
_running: set[asyncio.Task[None]] = set()


class Consumer(AsyncWebsocketConsumer):
    """Follows the stream whose number is its path."""

    async def connect(self) -> None:
        self.stream = int(self.scope["path"].strip("/"))
        await self.accept()
        _listeners[self.stream].add(self)
        if sum(map(len, _listeners.values())) == _feed.sockets:
            _running.add(asyncio.create_task(_feed.run(_deliver)))

    async def disconnect(self, code: int) -> None:
        _listeners[self.stream].discard(self)


async def _deliver(stream: int, frame: str) -> None:
    for listener in _listeners[stream]:
        await listener.send(text_data=frame)


application = ProtocolTypeRouter({"websocket": Consumer.as_asgi()})
