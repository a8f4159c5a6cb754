"""Calls that order something from a provider for money: an order is never placed twice.

Every time here is one of the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from ai.providers.errors import AnswerUnusable, UpstreamError
from ai.providers.http_calls import HttpCall, answered, body_of, read_body
from ai.providers.types import Deadlines
from ai.providers.whole_answers import read_answer
from common.http import ConnectFailed, UpstreamClient

T = TypeVar("T")

# With these a provider refuses a call; with any other it may have worked.
_TURNED_AWAY = frozenset({429, 503})

_GET_ATTEMPTS = 3
_GET_TIME = 30.0  # seconds for each attempt
_GET_PAUSE = 0.5  # seconds


class PaidCalls:
    """The calls of one order, all of them within its deadlines.

    They raise only ProviderErrors; an error is `retryable` only if certainly nothing was made.
    """

    def __init__(self, client: UpstreamClient, deadlines: Deadlines) -> None:
        self._client = client
        self._connect_timeout = deadlines.connect
        self.by = asyncio.get_running_loop().time() + deadlines.total

    async def post(self, call: HttpCall, decoder: Callable[[bytes], T], *, limit: int) -> T:
        """Place the order, once. `limit` is the number of bytes that the answer may have."""
        sending = self._client.post(
            call.url,
            call.headers,
            call.body,
            connect_timeout=self._connect_timeout,
            over_new_connection=True,
        )
        try:
            response = await answered(sending, self.by)
        except UpstreamError as error:
            error.retryable = error.retryable and _was_turned_away(error)
            raise
        try:
            payload = await read_body(response, limit, self.by)
        except UpstreamError as error:
            error.retryable = False
            raise
        finally:
            response.close()
        try:
            return read_answer(decoder, payload)
        except UpstreamError as error:
            unusable = AnswerUnusable(str(error))
            unusable.status, unusable.codes = error.status, error.codes
            raise unusable from None

    async def get(self, url: str, headers: Mapping[str, str], *, limit: int) -> bytes:
        """The result of the order. A failed read is repeated, because reading costs nothing."""
        now = asyncio.get_running_loop().time
        attempt = 1
        while True:
            try:
                return await self._get(url, headers, limit)
            except UpstreamError as error:
                error.retryable = False
                if attempt == _GET_ATTEMPTS or now() + _GET_PAUSE > self.by:
                    raise
            attempt += 1
            await asyncio.sleep(_GET_PAUSE)

    async def _get(self, url: str, headers: Mapping[str, str], limit: int) -> bytes:
        by = min(self.by, asyncio.get_running_loop().time() + _GET_TIME)
        sending = self._client.get(url, headers, connect_timeout=self._connect_timeout)
        return await body_of(sending, limit, by)


def _was_turned_away(error: UpstreamError) -> bool:
    return error.status in _TURNED_AWAY or isinstance(error.__cause__, ConnectFailed)
