"""Who may send a body that brings a file, how many at a time, and how long it may take.

They are many times as long as others, so nothing of them is read before it is known whose they are.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from common.asgi import Application, Headers, Message, Receive, Scope, Send
from common.errors import MalformedRequest, TooManyRequests
from common.memorybudget import MemoryBudget
from common.ratelimit import Limit, get_rate_limiter

# Of one user, for each address.
PACE = Limit(requests=300, window=3600)
# Of one user in each process: as many as a browser opens to one host.
MAX_AT_ONCE = 6
# For the slowest of those that take 25 MB: 0.7 Mbit/s.
BODY_SECONDS = 300.0
# Of everybody together, in memory and on disk, until they are answered.
MAX_BYTES = 512 * 1024 * 1024

# The user whose credentials these headers carry; raises DomainError.
Authenticate = Callable[[Headers], Awaitable[UUID]]


class TooManyFiles(TooManyRequests):
    message = "You are sending too many files. Wait for Retry-After seconds."


class FileBodies:
    """Lets `application` read the bodies of signed-in users.

    Raises TooManyFiles, ServiceUnavailable where the process has no room, MalformedRequest where a
    body does not arrive in time, and what `authenticate` raises.
    """

    def __init__(
        self,
        application: Application,
        authenticate: Authenticate,
        *,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._application = application
        self._authenticate = authenticate
        self._body_seconds = body_seconds
        self._bytes = MemoryBudget(MAX_BYTES)
        self._busy: Counter[UUID] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user_id = await self._authenticate(scope["headers"])
        verdict = await get_rate_limiter().check(f"files:{scope['path']}:{user_id}", PACE)
        if not verdict.allowed:
            raise TooManyFiles(retry_after=verdict.retry_after)
        with self._place(user_id), self._bytes.share() as share:
            deadline = asyncio.get_running_loop().time() + self._body_seconds

            async def bounded() -> Message:
                nonlocal deadline
                message = await _in_time(receive, deadline)
                share.take(len(message.get("body", b"")))
                if not message.get("more_body"):
                    # From here on the application only listens for the client to hang up.
                    deadline = float("inf")
                return message

            await self._application(scope, bounded, send)

    @contextmanager
    def _place(self, user_id: UUID) -> Iterator[None]:
        if self._busy[user_id] >= MAX_AT_ONCE:
            raise TooManyFiles(retry_after=1)
        self._busy[user_id] += 1
        try:
            yield
        finally:
            self._busy[user_id] -= 1
            if not self._busy[user_id]:
                del self._busy[user_id]


async def _in_time(receive: Receive, deadline: float) -> Message:
    try:
        async with asyncio.timeout_at(deadline):
            return await receive()
    except TimeoutError:
        raise MalformedRequest("The body did not arrive in time.") from None
