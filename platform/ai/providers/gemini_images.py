"""Gemini's image models: `POST {base_url}/models/{model}:generateContent`, one picture a call.

Protocol: Gemini API reference, "GenerateContentResponse" and "ImageConfig". Models that think send
drafts too: thoughts are marked, and among the other pictures the last one is the answer.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from ai.providers.config import ProviderConfig
from ai.providers.errors import AnswerUnusable, NoPicture, ProviderError, RequestRefused
from ai.providers.gemini_schema import Answer, Candidate, decode_answer
from ai.providers.http_calls import HttpCall
from ai.providers.paid_calls import PaidCalls
from ai.providers.pictures import (
    ASPECT_RATIOS,
    MAX_ANSWER,
    base64_of,
    blocked,
    body_for_each,
    picture_in,
    seeds_of,
    side_by_side,
)
from ai.providers.types import Deadlines, Image, ImageQuality, ImageRequest
from ai.providers.unsupported import refuse
from common.http import UpstreamClient

_SIZES: Mapping[ImageQuality, str] = MappingProxyType({"low": "1K", "standard": "1K", "high": "2K"})

_MODERATED = frozenset(
    {
        "SAFETY",
        "IMAGE_SAFETY",
        "PROHIBITED_CONTENT",
        "IMAGE_PROHIBITED_CONTENT",
        "RECITATION",
        "IMAGE_RECITATION",
        "BLOCKLIST",
        "SPII",
    }
)


class GeminiImages:
    """Gemini's image interface (an `ai.providers.types.ImageWire`). It never retries."""

    def __init__(self, config: ProviderConfig, client: UpstreamClient) -> None:
        self._client = client
        self._base_url = config.base_url
        self._headers = {"Content-Type": "application/json", "x-goog-api-key": config.api_key}

    async def generate(self, request: ImageRequest, deadlines: Deadlines) -> list[Image]:
        """See `ImageWire.generate`."""
        refuse(negative_prompt=request.negative_prompt)
        calls = PaidCalls(self._client, deadlines)
        url = f"{self._base_url}/models/{request.model}:generateContent"
        bodies = body_for_each(request, _body)
        limit = MAX_ANSWER // request.n  # all of them are in memory at once
        return await side_by_side(
            _make(calls, HttpCall(url, self._headers, body), limit, seed)
            for body, seed in zip(bodies, seeds_of(request), strict=True)
        )


async def _make(calls: PaidCalls, call: HttpCall, limit: int, seed: int | None) -> Image:
    answer = await calls.post(call, decode_answer, limit=limit)
    candidate = answer.candidates[0] if answer.candidates else Candidate()
    pictures = [
        part.inline_data for part in candidate.parts if part.inline_data and not part.thought
    ]
    if pictures:
        return replace(picture_in(pictures[-1].data), seed=seed)
    raise _why_none(answer, candidate.finish_reason)


def _body(request: ImageRequest) -> dict[str, Any]:
    generation: dict[str, Any] = {
        "responseModalities": ["IMAGE"],
        "imageConfig": {
            "aspectRatio": ASPECT_RATIOS[request.size],
            "imageSize": _SIZES[request.quality],
        },
    }
    if request.quality == "low":
        generation["thinkingConfig"] = {"thinkingLevel": "MINIMAL"}
    if request.seed is not None:
        generation["seed"] = request.seed
    parts: list[dict[str, Any]] = [
        {"inlineData": {"mimeType": picture.media_type, "data": base64_of(picture)}}
        for picture in request.references
    ]
    return {
        "contents": [{"role": "user", "parts": [*parts, {"text": request.prompt}]}],
        "generationConfig": generation,
    }


def _why_none(answer: Answer, finish_reason: str | None) -> ProviderError:
    """The error of an answer without a picture."""
    if finish_reason in _MODERATED or answer.is_blocked:
        return blocked()
    if finish_reason == "NO_IMAGE":
        return RequestRefused("The model made no picture of this prompt.")
    if finish_reason is not None:
        return NoPicture()
    return AnswerUnusable("The provider sent no picture.")
