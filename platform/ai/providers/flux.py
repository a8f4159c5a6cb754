"""Black Forest Labs' image interface: a task is submitted, polled, and its picture fetched.

Protocol: docs.bfl.ai, "Generating images" and "Integration guidelines". The answers contain the
(regional) URLs for polling and fetching; the picture's works for ten minutes only.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ai.providers.config import ProviderConfig
from ai.providers.errors import NothingMade, ProviderUnavailable, ResultMisplaced, UpstreamError
from ai.providers.http_calls import HttpCall
from ai.providers.named_urls import NamedUrls
from ai.providers.paid_calls import PaidCalls
from ai.providers.pictures import (
    MAX_PICTURE,
    MAX_SEED,
    base64_of,
    blocked,
    body_for_each,
    picture_of,
    seeds_of,
    side_by_side,
)
from ai.providers.types import Deadlines, Image, ImageRequest, ImageSize
from ai.providers.unsupported import refuse
from common.http import UpstreamClient

_DOMAIN = "bfl.ai"

# Width and height, multiples of 16. The price is by the megapixel (1,048,576): one, or two at most.
_ONE_MEGAPIXEL: Mapping[ImageSize, tuple[int, int]] = MappingProxyType(
    {"1024x1024": (1024, 1024), "1536x1024": (1248, 832), "1024x1536": (832, 1248)}
)
_TWO_MEGAPIXELS: Mapping[ImageSize, tuple[int, int]] = MappingProxyType(
    {"1024x1024": (1440, 1440), "1536x1024": (1728, 1152), "1024x1536": (1152, 1728)}
)

_MODERATED = frozenset({"Request Moderated", "Content Moderated"})
_FAILED = frozenset({"Error", "Failed"})
# Ended without a verdict: a picture may have been made.
_LOST = frozenset({"Ready", "Task not found"})

_MAX_STATUS = 1_000_000  # bytes

# Seconds between two polls: a tenth of the time waited so far, within these bounds.
_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 2.0


class _Task(Struct):
    polling_url: str


class _Result(Struct):
    sample: str | None = None
    seed: object = None  # whatever it is, the picture counts


class _State(Struct):
    status: str
    result: _Result | None = None


_decode_task = msgspec.json.Decoder(_Task).decode
_decode_state = msgspec.json.Decoder(_State).decode


class Flux:
    """Black Forest Labs' interface (an `ai.providers.types.ImageWire`). It submits nothing
    twice."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._base_url = config.base_url
        self._key = {"x-key": config.api_key}
        self._urls = NamedUrls(config.base_url, _DOMAIN)

    async def generate(self, request: ImageRequest, deadlines: Deadlines) -> list[Image]:
        """See `ImageWire.generate`. Each picture is a task of its own."""
        calls = PaidCalls(self._client, deadlines)
        refuse(negative_prompt=request.negative_prompt)
        url = f"{self._base_url}/{request.model}"
        headers = {"Content-Type": "application/json", **self._key}
        bodies = body_for_each(request, _body)
        return await side_by_side(
            self._make(calls, HttpCall(url, headers, body), seed)
            for body, seed in zip(bodies, seeds_of(request), strict=True)
        )

    async def _make(self, calls: PaidCalls, call: HttpCall, seed: int | None) -> Image:
        task = await calls.post(call, _decode_task, limit=_MAX_STATUS)
        try:
            url, told = await self._result_of(calls, task)
            # The URL is signed, and gets no key of ours.
            picture = picture_of(await calls.get(self._own(url), {}, limit=MAX_PICTURE))
            is_seed = type(told) is int and 0 <= told <= MAX_SEED
            return replace(picture, seed=told if is_seed else seed)
        except ProviderUnavailable:
            raise _lost() from None

    async def _result_of(self, calls: PaidCalls, task: _Task) -> tuple[str, object]:
        """The URL of the picture, once it is ready, and its seed."""
        polling_url = self._own(task.polling_url)
        now = asyncio.get_running_loop().time
        started = now()
        while True:
            pause = min(max(_SHORTEST_PAUSE, (now() - started) / 10), _LONGEST_PAUSE)
            await asyncio.sleep(min(pause, calls.by - now()))
            payload = await calls.get(polling_url, self._key, limit=_MAX_STATUS)
            state = _read_state(payload)
            if state.status in _MODERATED:
                raise blocked()
            if state.status == "Ready" and state.result and state.result.sample:
                return state.result.sample, state.result.seed
            if state.status in _FAILED:
                raise NothingMade
            if state.status in _LOST:
                raise _lost()

    def _own(self, url: str) -> str:
        """`url`, if it is the provider's own. Raises ResultMisplaced if not."""
        if self._urls.may_be_followed(url):
            return url
        raise ResultMisplaced


def _body(request: ImageRequest) -> dict[str, Any]:
    sizes = _TWO_MEGAPIXELS if request.quality == "high" else _ONE_MEGAPIXEL
    width, height = sizes[request.size]
    body: dict[str, Any] = {
        "prompt": request.prompt,
        "width": width,
        "height": height,
        "output_format": "png",
    }
    if request.seed is not None:
        body["seed"] = request.seed
    for number, picture in enumerate(request.references, 1):
        body["input_image" if number == 1 else f"input_image_{number}"] = base64_of(picture)
    return body


def _read_state(payload: bytes) -> _State:
    try:
        return _decode_state(payload)
    except (ValueError, RecursionError):
        raise _lost() from None


def _lost() -> UpstreamError:
    return UpstreamError("The provider did not say what became of the picture.", retryable=False)
