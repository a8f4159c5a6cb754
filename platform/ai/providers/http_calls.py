"""One call to a provider over HTTP: sends it, checks the status, reads the body within limits.

Every time here is one of the event loop. Every failure is a ProviderError.
"""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from ai.providers.error_answers import error_from
from ai.providers.errors import AnswerTooLate, ProviderUnavailable, UpstreamError
from common.http import AnswerTooLong, TransportError, UpstreamResponse

MAX_ERROR = 65_536  # bytes

# An order can be created (201) or accepted (202), and a deletion has no content (204).
_SUCCESSES = frozenset({200, 201, 202, 204})


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A POST request. `headers` carry the credentials."""

    url: str
    headers: Mapping[str, str]
    body: bytes


async def answered(sending: Awaitable[UpstreamResponse], by: float) -> UpstreamResponse:
    """Wait for the answer to a call, and check that its status is a success; the caller closes
    it."""
    try:
        async with asyncio.timeout_at(by):
            response = await sending
            if response.status in _SUCCESSES:
                return response
            raise await _refusal(response)
    except TransportError as error:
        raise broken(error) from error
    except TimeoutError:
        raise AnswerTooLate from None


async def read_body(response: UpstreamResponse, limit: int, by: float) -> bytes:
    """The whole body, at most `limit` bytes."""
    try:
        async with asyncio.timeout_at(by):
            return await response.read(limit)
    except TransportError as error:
        raise broken(error) from error
    except TimeoutError:
        raise AnswerTooLate from None


async def body_of(sending: Awaitable[UpstreamResponse], limit: int, by: float) -> bytes:
    """The whole body of the answer to a call, at most `limit` bytes."""
    response = await answered(sending, by)
    try:
        return await read_body(response, limit, by)
    finally:
        response.close()


def broken(error: TransportError) -> UpstreamError:
    """The error of a failed connection."""
    retryable = not isinstance(error, AnswerTooLong)
    return UpstreamError(f"The connection to the provider failed ({error}).", retryable=retryable)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait: RFC 9110, section 10.2.3, or OpenAI's
    `retry-after-ms`. None where it sends none, or a malformed value."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _as_pause(float(milliseconds) / 1_000)
        if seconds := headers.get("retry-after"):
            return _as_pause(float(seconds))
    except ValueError:
        return _until(headers.get("retry-after", ""))
    return None


async def _refusal(response: UpstreamResponse) -> Exception:
    """The error of an answer whose status is no success, with the headers' advice about a retry."""
    error = error_from(response.status, await _error_body(response))
    if isinstance(error, ProviderUnavailable):
        error.turned_away = True
    if isinstance(error, UpstreamError):
        if error.retry_after is None:
            error.retry_after = retry_after(response.headers)
        if response.headers.get("x-should-retry") == "false":
            error.retryable = False
    return error


async def _error_body(response: UpstreamResponse) -> bytes:
    """The body of an error; empty, if it cannot be read."""
    try:
        return await response.read(MAX_ERROR)
    except TransportError:
        return b""
    finally:
        response.close()


def _until(date: str) -> float | None:
    try:
        return _as_pause(max(0.0, parsedate_to_datetime(date).timestamp() - time.time()))
    except (ValueError, OverflowError):
        return None


def _as_pause(seconds: float) -> float | None:
    return seconds if 0 <= seconds < float("inf") else None
