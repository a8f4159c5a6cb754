"""Limits for bodies that bring a file: signed-in users only, with a rate and a number at a time.

Such bodies are much larger than others, so they are not read before the user is known.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from common.errors import TooManyRequests
from server.asgi import Application, Headers, Receive, Scope, Send
from server.rate_limit import Limit, get_rate_limiter

# Requests of one user, for each address.
PACE = Limit(requests=300, window=3600)
# Open bodies of one user in each process: as many as a browser's connections to one host.
MAX_AT_ONCE = 6

# Finds the user of the credentials in these headers; raises DomainError.
Authenticate = Callable[[Headers], Awaitable[UUID]]


class TooManyFiles(TooManyRequests):
    message = "You are sending too many files. Wait for Retry-After seconds."


class FileBodies:
    """Lets `application` read the bodies of signed-in users. Raises TooManyFiles, and the errors of
    `authenticate`."""

    def __init__(self, application: Application, authenticate: Authenticate) -> None:
        self._application = application
        self._authenticate = authenticate
        self._busy: Counter[UUID] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user_id = await self._authenticate(scope["headers"])
        verdict = await get_rate_limiter().check(f"files:{scope['path']}:{user_id}", PACE)
        if not verdict.allowed:
            raise TooManyFiles(retry_after=verdict.retry_after)
        with self._place(user_id):
            await self._application(scope, receive, send)

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
