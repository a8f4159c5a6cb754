"""Reads a result piece by piece, so that it is never in memory as a whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

from ai.providers.errors import (
    AnswerTooLate,
    ProviderError,
    ResultExpired,
    ResultMisplaced,
    ResultTooLong,
)
from ai.providers.http_calls import answered, broken
from ai.providers.rest_calls import CONNECT_SECONDS
from common.http import AnswerTooLong, TransportError, UpstreamClient, UpstreamResponse

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


async def open_result(
    client: UpstreamClient,
    url: str,
    headers: Mapping[str, str],
    *,
    expired: frozenset[int],
    by: float,
) -> UpstreamResponse:
    """The answer with a result, which the caller closes. `by` is a time of the event loop.

    Raises ResultExpired for a status in `expired`, ResultMisplaced for a redirect, which is not
    followed, and other ProviderErrors.
    """
    try:
        return await answered(client.get(url, headers, connect_timeout=CONNECT_SECONDS), by)
    except ProviderError as error:
        if error.status in expired:
            raise ResultExpired from error
        if error.status in _REDIRECTS:
            misplaced = ResultMisplaced()
            misplaced.status = error.status
            raise misplaced from error
        raise


async def pieces_of(
    opening: Callable[[float], Awaitable[UpstreamResponse]], *, limit: int, seconds: float
) -> AsyncGenerator[bytes, None]:
    """The body of an answer, at most `limit` bytes, within so many seconds.

    `opening` gets the end of that time, and brings the answer. Raises ResultTooLong, before the
    first piece where the answer says its length, and other ProviderErrors.
    """
    by = asyncio.get_running_loop().time() + seconds
    response = await opening(by)
    try:
        if int(response.headers.get("content-length", "0")) > limit:
            raise ResultTooLong
        while piece := await _next_piece(response, limit, by):
            yield piece
    finally:
        response.close()


async def _next_piece(response: UpstreamResponse, limit: int, by: float) -> bytes:
    try:
        async with asyncio.timeout_at(by):
            return await response.read_chunk(limit)
    except AnswerTooLong as error:
        raise ResultTooLong from error
    except TransportError as error:
        raise broken(error) from error
    except TimeoutError:
        raise AnswerTooLate from None
