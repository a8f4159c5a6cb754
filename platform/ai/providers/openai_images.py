"""OpenAI's image interface: `POST {base_url}/images/generations`, and `/images/edits` with
references.

Protocol: OpenAI's API reference, "Create image" and "Create image edit". Its models always answer
with base64, and refuse a `response_format`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ai.providers.config import ProviderConfig
from ai.providers.errors import ProviderError
from ai.providers.forms import FormFile, multipart
from ai.providers.http_calls import HttpCall
from ai.providers.paid_calls import PaidCalls
from ai.providers.pictures import MAX_ANSWER, blocked, delivered, picture_in
from ai.providers.types import Deadlines, Image, ImageQuality, ImageRequest
from ai.providers.unsupported import refuse
from common.http import UpstreamClient

_QUALITIES: Mapping[ImageQuality, str] = MappingProxyType(
    {"low": "low", "standard": "medium", "high": "high"}
)


class _Item(Struct):
    b64_json: Raw = Raw()
    respect_moderation: bool | None = None  # xAI


class _Answer(Struct):
    data: list[_Item]


_decode_answer = msgspec.json.Decoder(_Answer).decode


class OpenAIImages:
    """One provider's image interface (an `ai.providers.types.ImageWire`). It never retries."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._url = f"{config.base_url}/images"
        self._headers = {"Authorization": f"Bearer {config.api_key}"}

    async def generate(self, request: ImageRequest, deadlines: Deadlines) -> list[Image]:
        """See `ImageWire.generate`."""
        refuse(negative_prompt=request.negative_prompt, seed=request.seed)
        calls = PaidCalls(self._client, deadlines)
        media_type, body = self._body(request)
        path = "edits" if request.references else "generations"
        headers = {"Content-Type": media_type, **self._headers}
        call = HttpCall(f"{self._url}/{path}", headers, body)
        items = (await calls.post(call, _decode_answer, limit=MAX_ANSWER)).data
        return delivered(_outcome(item) for item in items[: request.n])

    def _body(self, request: ImageRequest) -> tuple[str, bytes]:
        """The media type and the body."""
        fields = self._fields(request)
        if not request.references:
            return "application/json", msgspec.json.encode(fields)
        files = (
            FormFile("image[]", _file_name(number, picture), picture.media_type, picture.data)
            for number, picture in enumerate(request.references)
        )
        return multipart({name: str(value) for name, value in fields.items()}, *files)

    def _fields(self, request: ImageRequest) -> dict[str, Any]:
        return {
            "model": request.model,
            "prompt": request.prompt,
            "n": request.n,
            "size": request.size,
            "quality": _QUALITIES[request.quality],
            "output_format": "png",
        }


def _file_name(number: int, picture: Image) -> str:
    return f"{number}.{picture.media_type.rpartition('/')[2]}"


def _outcome(item: _Item) -> Image | ProviderError:
    if item.respect_moderation is False:
        return blocked()
    try:
        return picture_in(item.b64_json)
    except ProviderError as error:
        return error
