"""The form that most providers of videos and 3D models share: a task is submitted with POST, asked
after with GET and ended with DELETE, and its results are at signed URLs."""

from collections.abc import AsyncGenerator, Callable, Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, TypeVar

import msgspec
from msgspec import Meta

from ai.providers.config import ProviderConfig
from ai.providers.downloads import open_result, pieces_of
from ai.providers.errors import (
    ProviderUnavailable,
    RequestRefused,
    ResultMisplaced,
    UpstreamError,
)
from ai.providers.http_calls import HttpCall
from ai.providers.named_urls import NamedUrls
from ai.providers.paid_calls import PaidCalls
from ai.providers.rest_calls import MAX_ANSWER, RestCalls, unless_missing
from ai.providers.types import Deadlines
from common.http import UpstreamClient, UpstreamResponse

T = TypeVar("T")

# It becomes a part of paths, and a column: any other is no answer.
TaskId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,128}\Z")]

# What stores answer for a signed URL that has ended, or whose file is gone.
_EXPIRED = frozenset({401, 403, 404, 410})

_EARLIER_IS_GONE = "The provider does not have the earlier result any more."


class TaskApi:
    """The calls of one provider, all below its base URL. They raise only ProviderErrors.

    Results are fetched from under the base URL's origin, and from `domains`.
    """

    def __init__(
        self,
        config: ProviderConfig,
        client: UpstreamClient,
        domains: tuple[str, ...],
        headers: Mapping[str, str],
    ) -> None:
        self._client = client
        self._base_url = config.base_url
        self._headers = {"Authorization": f"Bearer {config.api_key}", **headers}
        self._urls = NamedUrls(config.base_url, *domains)

    async def submit(
        self,
        path: str,
        body: object,
        decoder: Callable[[bytes], T],
        *,
        earlier: str = "",
        seconds: float,
    ) -> T:
        """Submit a task, once. An UpstreamError is `retryable` only where none was begun.

        `earlier` is the task that the body names, if any: a 404 is about that one, and not about
        the model.
        """
        calls = PaidCalls(self._client, Deadlines(total=seconds))
        call = self._call(path, "application/json", msgspec.json.encode(body))
        try:
            return await calls.post(call, decoder, limit=MAX_ANSWER)
        except ProviderUnavailable as error:
            if earlier and error.fault == "model":
                raise RequestRefused(_EARLIER_IS_GONE) from error
            raise

    async def upload(
        self,
        path: str,
        media_type: str,
        body: bytes,
        decoder: Callable[[bytes], T],
        *,
        seconds: float,
    ) -> T:
        """Send a file for a task, which begins nothing: every UpstreamError is `retryable`."""
        try:
            call = self._call(path, media_type, body)
            return await RestCalls(self._client, seconds=seconds).post(call, decoder)
        except UpstreamError as error:
            error.retryable = True
            raise

    async def find(self, path: str, decoder: Callable[[bytes], T], *, seconds: float) -> T | None:
        """A task as it is now; None where the provider knows none."""
        calls = RestCalls(self._client, seconds=seconds)
        return await unless_missing(calls.get(self._url(path), self._headers, decoder))

    async def delete(self, path: str, *, seconds: float) -> None:
        """End a task. Returns as well where the provider knows none."""
        calls = RestCalls(self._client, seconds=seconds)
        await unless_missing(calls.delete(self._url(path), self._headers))

    def download(self, url: str, *, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """See `MediaWire.download`."""
        return pieces_of(lambda by: self._open(url, by), limit=limit, seconds=seconds)

    async def _open(self, url: str, by: float) -> UpstreamResponse:
        """A result. A signed URL is a credential by itself: it gets no key."""
        if not self._urls.may_be_followed(url):
            raise ResultMisplaced
        return await open_result(self._client, url, {}, expired=_EXPIRED, by=by)

    def _call(self, path: str, media_type: str, body: bytes) -> HttpCall:
        return HttpCall(self._url(path), {**self._headers, "Content-Type": media_type}, body)

    def _url(self, path: str) -> str:
        return f"{self._base_url}/{path}"


class TaskWire:
    """The common part of the wires with that form: `domains` are those of the provider's results,
    and `headers` what it wants beside the key."""

    domains: ClassVar[tuple[str, ...]]
    headers: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._tasks = TaskApi(config, client, self.domains, self.headers)

    def download(self, url: str, *, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """See `MediaWire.download`."""
        return self._tasks.download(url, limit=limit, seconds=seconds)
