"""Starts a burst of requests a few at a time, in turn for each client address.

An event loop runs everything that is ready before it looks for more. Without this, a thousand
requests of one client would all begin before a request of another client that comes a moment later;
and most of them are only refused.
"""

import asyncio
from collections import OrderedDict, deque

from common.loop_local import LoopLocal
from server.asgi import Application, Receive, Scope, Send
from server.client_ip import client_ip

# Requests that begin in one pass of the event loop: one or two milliseconds.
AT_ONCE = 8


class FairAdmission:
    """Starts requests for `application`. It bounds how many begin in one pass, not how many are
    open."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._starts = LoopLocal(_Starts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        starts = self._starts.get()
        if starts.are_left:
            starts.count()
        else:
            await starts.wait(client_ip(scope))
        await self._application(scope, receive, send)


class _Starts:
    """The waiting requests of one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = 0  # in this pass
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def are_left(self) -> bool:
        return self._begun < AT_ONCE

    def count(self) -> None:
        if self._begun == 0:
            self._loop.call_soon(self._begin_pass)
        self._begun += 1

    async def wait(self, client: str) -> None:
        start = self._loop.create_future()
        self._waiting.setdefault(client, deque()).append(start)
        await start

    def _begin_pass(self) -> None:
        self._begun = 0
        while self._waiting and self.are_left:
            client, starts = self._waiting.popitem(last=False)
            start = starts.popleft()
            if starts:
                self._waiting[client] = starts  # behind all others
            if not start.done():  # a request may be cancelled while it waits
                self.count()
                start.set_result(None)
