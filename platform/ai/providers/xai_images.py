"""xAI's image interface: OpenAI's paths and answer, but a request of its own.

Protocol: xAI's API reference, "Image generations" and "Image edits". `size` is refused; the aspect
ratio, resolution and quality together make the price.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from ai.providers.openai_images import OpenAIImages
from ai.providers.pictures import ASPECT_RATIOS, data_uri
from ai.providers.types import ImageQuality, ImageRequest

# Resolution and quality: there is no quality above medium.
_QUALITIES: Mapping[ImageQuality, tuple[str, str]] = MappingProxyType(
    {"low": ("1k", "low"), "standard": ("1k", "medium"), "high": ("2k", "medium")}
)


class XAIImages(OpenAIImages):
    """See `OpenAIImages`."""

    def _body(self, request: ImageRequest) -> tuple[str, bytes]:
        return "application/json", msgspec.json.encode(self._fields(request))

    def _fields(self, request: ImageRequest) -> dict[str, Any]:
        resolution, quality = _QUALITIES[request.quality]
        fields: dict[str, Any] = {
            "model": request.model,
            "prompt": request.prompt,
            "n": request.n,
            "aspect_ratio": ASPECT_RATIOS[request.size],
            "resolution": resolution,
            "quality": quality,
            "response_format": "b64_json",
        }
        if request.references:
            fields["images"] = [
                {"type": "image_url", "url": data_uri(picture)} for picture in request.references
            ]
        return fields
