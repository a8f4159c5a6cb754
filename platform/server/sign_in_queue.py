"""The queue for hashing passwords, in front of Django: what waits for a hash has neither a thread
nor a connection, and keeps no other request waiting."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from common.errors import ServiceUnavailable
from server.asgi import Application, Message, Receive, Scope, Send
from server.hash_turns import RETRY_SECONDS, Attempt, HashTurns, Lane
from server.metrics import turn_seconds, turns_waiting

# The beginning of a body, from which an attempt is read. Longer ones name no account.
MAX_READ_BYTES = 16_384
SUCCESS, REDIRECT, ERROR = 200, 300, 400

ReadAttempt = Callable[[Scope, bytes], Awaitable[Attempt]]

# The lane of the request that runs in this context.
hashing_lane: ContextVar[Lane] = ContextVar("hashing_lane", default=Lane.FIRST)


class SignInQueue:
    """Lets `application` handle `turns` requests at a time in each lane (hash_turns.py), of which
    `read_attempt` says what they are.

    A turn begins when the whole request has come, and ends when the response begins. A request that
    has waited for `timeout` is refused with ServiceUnavailable: it cannot proceed without a turn.
    """

    def __init__(
        self, application: Application, *, turns: int, timeout: float, read_attempt: ReadAttempt
    ) -> None:
        self._application = application
        self._timeout = timeout
        self._read_attempt = read_attempt
        self.turns = HashTurns(turns)
        self._waiting = turns_waiting.labels("sign_in")
        self._seconds = turn_seconds.labels("sign_in")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _Request(self, scope, receive, send).run(self._application)

    async def acquire(self, scope: Scope, body: bytes) -> tuple[Attempt, Lane]:
        """Wait for a turn. Raises TooManyRequests, ServiceUnavailable."""
        attempt = await self._read_attempt(scope, body)
        began_at = time.monotonic()
        self._waiting.inc()
        try:
            async with asyncio.timeout(self._timeout):
                return attempt, await self.turns.acquire(attempt)
        except TimeoutError:
            raise ServiceUnavailable(
                "Too many people sign in just now. Try again in a moment.",
                retry_after=RETRY_SECONDS,
            ) from None
        finally:
            self._waiting.dec()
            self._seconds.observe(time.monotonic() - began_at)


class _Request:
    def __init__(self, queue: SignInQueue, scope: Scope, receive: Receive, send: Send) -> None:
        self._queue = queue
        self._scope = scope
        self._receive = receive
        self._send = send
        self._body = bytearray()
        self._is_due = True
        self._turn: tuple[Attempt, Lane] | None = None

    async def run(self, application: Application) -> None:
        try:
            await application(self._scope, self._receive_and_wait, self._end_and_send)
        finally:
            self._end(was_right=None)

    async def _receive_and_wait(self) -> Message:
        message = await self._receive()
        if self._is_due and message["type"] == "http.request":
            self._body += message.get("body", b"")[: MAX_READ_BYTES + 1 - len(self._body)]
            if not message.get("more_body"):
                self._is_due = False
                self._turn = await self._queue.acquire(self._scope, bytes(self._body))
                hashing_lane.set(self._turn[1])
        return message

    async def _end_and_send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._end(was_right=self._was_right(message["status"]))
        await self._send(message)

    def _was_right(self, status: int) -> bool:
        """The forms of the admin show themselves again where something is wrong."""
        if self._scope["path"].startswith("/admin/"):
            return REDIRECT <= status < ERROR
        return SUCCESS <= status < REDIRECT

    def _end(self, *, was_right: bool | None) -> None:
        if self._turn is not None:
            attempt, lane = self._turn
            self._turn = None
            self._queue.turns.release(attempt, lane, was_right=was_right)
