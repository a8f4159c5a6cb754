"""Queues in front of Django: a burst of requests waits for turns, not for connections.

Nearly every request to Django needs one of the process's few connections to the database. A request
that waits long for a connection is refused, and delays the replies that end meanwhile. What has a
password hashed has a queue of its own (sign_in_queue.py).
"""

import asyncio
import time

from common.errors import ServiceUnavailable, TooManyRequests
from server.asgi import Application, Message, Receive, Scope, Send
from server.client_ip import client_ip
from server.fair_queue import FairQueue
from server.metrics import turn_seconds, turns_waiting

# Seconds. After this time a request proceeds without a turn, and may find no connection.
TIMEOUT = 20.0
# The number of waiting requests: in all, and of one address.
MAX_WAITING = 2_000
MAX_WAITING_OF_ADDRESS = 500
RETRY_SECONDS = 5


class RequestQueue:
    """Lets `application` handle a number of requests at a time, of which `each` for one address,
    fairly among the clients' addresses and, for each, in the order of arrival. `name` is that of
    the queue in the metrics.

    A turn begins when the whole request has come, and ends when the response begins: slow senders
    and readers take no turn. Where too many wait already, reading the request raises
    TooManyRequests (of the same address) or ServiceUnavailable (in all).
    """

    def __init__(
        self,
        application: Application,
        *,
        turns: int,
        each: int | None = None,
        timeout: float = TIMEOUT,
        name: str = "requests",
    ) -> None:
        self._application = application
        self._timeout = timeout
        self.queue = FairQueue(turns, each=each)
        self._waiting = turns_waiting.labels(name)
        self._seconds = turn_seconds.labels(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_due, has_turn = True, False
        client = client_ip(scope)

        def end() -> None:
            nonlocal has_turn
            if has_turn:
                has_turn = False
                self.queue.release(client)

        async def wait_at_the_end() -> Message:
            nonlocal is_due, has_turn
            message = await receive()
            if is_due and message["type"] == "http.request" and not message.get("more_body"):
                is_due = False
                has_turn = await self._acquire(client)
            return message

        async def end_and_send(message: Message) -> None:
            end()
            await send(message)

        try:
            await self._application(scope, wait_at_the_end, end_and_send)
        finally:
            end()

    async def _acquire(self, client: str) -> bool:
        """Wait for a turn. False where the request proceeds without one."""
        if self.queue.waiting(client) >= MAX_WAITING_OF_ADDRESS:
            raise TooManyRequests(retry_after=RETRY_SECONDS)
        if self.queue.length >= MAX_WAITING:
            raise ServiceUnavailable(retry_after=RETRY_SECONDS)
        began_at = time.monotonic()
        self._waiting.inc()
        try:
            async with asyncio.timeout(self._timeout):
                await self.queue.acquire(client)
                return True
        except TimeoutError:
            return False
        finally:
            self._waiting.dec()
            self._seconds.observe(time.monotonic() - began_at)
