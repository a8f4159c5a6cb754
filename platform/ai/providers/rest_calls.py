"""Calls about an order that was placed before. They cost nothing, so they may be repeated.

Each is made once here: who waits for an operation asks again anyway.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from ai.providers.errors import ProviderError
from ai.providers.http_calls import HttpCall, body_of
from ai.providers.types import Deadlines
from ai.providers.whole_answers import read_answer
from common.http import UpstreamClient, UpstreamResponse

T = TypeVar("T")

CONNECT_SECONDS = Deadlines().connect
MAX_ANSWER = 1_000_000  # bytes

_MISSING = frozenset({404, 410})


class RestCalls:
    """Calls that end within so many seconds together. They raise only ProviderErrors."""

    def __init__(self, client: UpstreamClient, *, seconds: float) -> None:
        self._client = client
        self._by = asyncio.get_running_loop().time() + seconds

    async def get(self, url: str, headers: Mapping[str, str], decoder: Callable[[bytes], T]) -> T:
        """The document at `url`."""
        sending = self._client.get(url, headers, connect_timeout=CONNECT_SECONDS)
        return read_answer(decoder, await self._body(sending))

    async def post(self, call: HttpCall, decoder: Callable[[bytes], T]) -> T:
        """The answer to a call."""
        sending = self._client.post(
            call.url, call.headers, call.body, connect_timeout=CONNECT_SECONDS
        )
        return read_answer(decoder, await self._body(sending))

    async def delete(self, url: str, headers: Mapping[str, str]) -> None:
        """Delete what is at `url`."""
        await self._body(self._client.delete(url, headers, connect_timeout=CONNECT_SECONDS))

    async def _body(self, sending: Awaitable[UpstreamResponse]) -> bytes:
        return await body_of(sending, MAX_ANSWER, self._by)


async def unless_missing(asking: Awaitable[T]) -> T | None:
    """The answer; None where the provider says that there is no such thing."""
    try:
        return await asking
    except ProviderError as error:
        if error.status in _MISSING:
            return None
        raise
