"""Veo on Google's Vertex AI: long-running operations, with results in a bucket of ours.

Protocol: Vertex AI's model reference, "Veo on Vertex AI video generation API". An extension makes
7 s, and brings the whole clip.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from ai.providers.cloud_storage import CloudFolder
from ai.providers.config import SIMULATED_KEY, ProviderConfig
from ai.providers.downloads import open_result, pieces_of
from ai.providers.errors import ResultMisplaced
from ai.providers.google_tokens import AccessTokens, read_service_account
from ai.providers.http_calls import HttpCall
from ai.providers.media import Picture, VideoOrder, failed, no_result
from ai.providers.operations import Accepted, Cancelled, OperationState, Pending, Succeeded, Unknown
from ai.providers.paid_calls import PaidCalls
from ai.providers.pictures import base64_of
from ai.providers.rest_calls import MAX_ANSWER, RestCalls, unless_missing
from ai.providers.types import Deadlines
from common.http import UpstreamClient, UpstreamResponse

T = TypeVar("T")

_HOST = re.compile(r"https://([a-z0-9-]+)-aiplatform\.googleapis\.com")
_USUAL_LOCATION = "us-central1"
_NAME = r"\Aprojects/[\w.-]+/locations/[\w-]+/publishers/google/models/[\w.-]+/operations/[\w-]+\Z"
_CANCELLED = 1  # google.rpc.Code
_SAYS_BLOCKED = re.compile(r"violat|responsible ai|usage guidelines", re.IGNORECASE)
# A refused bearer is our fault, and no object that has gone.
_EXPIRED = frozenset({404, 410})


class _Named(Struct):
    name: Annotated[str, Meta(pattern=_NAME, max_length=255)]


class _Error(Struct):
    code: int = 0
    message: str = ""


class _Video(Struct, rename="camel"):
    gcs_uri: str = ""


class _Response(Struct, rename="camel"):
    videos: list[_Video] = []
    rai_media_filtered_count: int = 0
    rai_media_filtered_reasons: list[str] = []


class _Operation(Struct):
    done: bool = False
    error: _Error | None = None
    response: _Response | None = None


_decode_named = msgspec.json.Decoder(_Named).decode
_decode_operation = msgspec.json.Decoder(_Operation).decode
_decode_nothing = msgspec.json.Decoder(dict[str, Any]).decode


class Veo:
    """Google's interface (an `ai.providers.media.MediaWire` of VideoOrders). It submits nothing
    twice."""

    can_cancel = True

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        account = read_service_account(config.api_key)
        project = account.project_id if account else SIMULATED_KEY
        host = _HOST.match(config.base_url)
        location = host[1] if host else _USUAL_LOCATION
        self._client = client
        self._base_url = config.base_url
        self._models = f"projects/{project}/locations/{location}/publishers/google/models"
        self._tokens = AccessTokens(config.api_key, client)
        self._folder = CloudFolder(config.storage_uri or f"gs://{project}-veo", config.storage_url)

    async def submit(self, order: VideoOrder, reference: str, *, seconds: float) -> Accepted:
        """See `OperationWire.submit`. The result is put into a folder of our reference."""
        url = f"{self._base_url}/{self._models}/{order.model}:predictLongRunning"
        body = msgspec.json.encode(_body(order, f"{self._folder.uri}/{reference}/"))

        async def post(headers: Mapping[str, str]) -> _Named:
            calls = PaidCalls(self._client, Deadlines(total=seconds))
            return await calls.post(_call(url, headers, body), _decode_named, limit=MAX_ANSWER)

        return Accepted((await self._tokens.call(post, seconds=seconds)).name)

    async def poll(self, operation_id: str, *, seconds: float) -> OperationState:
        """See `OperationWire.poll`."""
        model = operation_id.partition("/operations/")[0]
        url = f"{self._base_url}/{model}:fetchPredictOperation"
        body = msgspec.json.encode({"operationName": operation_id})
        operation = await self._ask(url, body, _decode_operation, seconds)
        return Unknown() if operation is None else _state(operation)

    async def cancel(self, operation_id: str, *, seconds: float) -> None:
        """See `OperationWire.cancel`. An operation that has ended keeps its result."""
        url = f"{self._base_url}/{operation_id}:cancel"
        await self._ask(url, b"{}", _decode_nothing, seconds)

    def download(self, url: str, *, limit: int, seconds: float) -> AsyncGenerator[bytes, None]:
        """See `MediaWire.download`. `url` is an object in our folder: `gs://bucket/object`."""
        return pieces_of(lambda by: self._open(url, by, seconds), limit=limit, seconds=seconds)

    async def _open(self, uri: str, by: float, seconds: float) -> UpstreamResponse:
        address = self._folder.address_of(uri)
        if address is None:
            raise ResultMisplaced

        async def get(headers: Mapping[str, str]) -> UpstreamResponse:
            return await open_result(self._client, address, headers, expired=_EXPIRED, by=by)

        return await self._tokens.call(get, seconds=seconds)

    async def _ask(
        self, url: str, body: bytes, decoder: Callable[[bytes], T], seconds: float
    ) -> T | None:
        """The answer about an operation; None where it is unknown."""
        calls = RestCalls(self._client, seconds=seconds)

        def post(headers: Mapping[str, str]) -> Awaitable[T | None]:
            return unless_missing(calls.post(_call(url, headers, body), decoder))

        return await self._tokens.call(post, seconds=seconds)


def _call(url: str, headers: Mapping[str, str], body: bytes) -> HttpCall:
    return HttpCall(url, {**headers, "Content-Type": "application/json"}, body)


def _body(order: VideoOrder, storage_uri: str) -> dict[str, Any]:
    instance: dict[str, Any] = {"prompt": order.prompt}
    if order.start is not None:
        instance["image"] = _image(order.start)
    if order.end is not None:
        instance["lastFrame"] = _image(order.end)
    if order.extends:
        instance["video"] = {"gcsUri": order.extends, "mimeType": "video/mp4"}
    parameters: dict[str, Any] = {
        "sampleCount": 1,
        "durationSeconds": order.seconds,
        "aspectRatio": order.aspect_ratio,
        "resolution": order.resolution,
        "storageUri": storage_uri,
    }
    if order.negative_prompt:
        parameters["negativePrompt"] = order.negative_prompt
    if order.seed is not None:
        parameters["seed"] = order.seed
    if order.audio is not None:
        parameters["generateAudio"] = order.audio
    return {"instances": [instance], "parameters": parameters}


def _image(picture: Picture) -> dict[str, str]:
    return {"bytesBase64Encoded": base64_of(picture), "mimeType": picture.media_type}


def _state(operation: _Operation) -> OperationState:
    if not operation.done:
        return Pending()
    error, response = operation.error, operation.response or _Response()
    if error is not None:
        if error.code == _CANCELLED:
            return Cancelled()
        is_blocked = bool(_SAYS_BLOCKED.search(error.message))
        return failed(error.message, str(error.code), blocked=is_blocked)
    if response.videos and response.videos[0].gcs_uri:
        uri = response.videos[0].gcs_uri
        return Succeeded((uri,), reference=uri)
    if response.rai_media_filtered_count:
        return failed(next(iter(response.rai_media_filtered_reasons), ""), blocked=True)
    raise no_result()
