"""Embeddings and pictures in a test: what is asked, and what a provider answers."""

import base64
import json
from collections.abc import Sequence

from ai.providers.errors import ProviderError
from ai.providers.types import (
    Deadlines,
    EmbeddingRequest,
    Image,
    ImageQuality,
    ImageRequest,
    ImageSize,
    ImageWire,
)
from ai.providers.vectors import encoded
from common.tests.upstream import JSON, Answer, Call

AMPLE = Deadlines(connect=20.0, total=50.0)

PNG = b"\x89PNG\r\n\x1a\n" + b"a picture"
JPEG = b"\xff\xd8\xff\xe0" + b"a picture"
WEBP = b"RIFF\x20\x00\x00\x00WEBP" + b"a picture"


def embedding_request(*inputs: str, dimensions: int | None = None) -> EmbeddingRequest:
    return EmbeddingRequest("some-model", inputs or ("Hello",), dimensions)


def image_request(
    n: int = 1, size: ImageSize = "1024x1024", quality: ImageQuality = "standard"
) -> ImageRequest:
    return ImageRequest("some-model", "A lighthouse", n, size, quality)


def answer(document: object, status: int = 200) -> Answer:
    return Answer([json.dumps(document).encode()], status, JSON)


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def vectors_for(call: Call, tokens_each: int = 2) -> dict[str, object]:
    """What OpenAI answers: the n-th vector of a call holds the length of its text."""
    inputs = call.json["input"]
    data = [
        {"object": "embedding", "index": index, "embedding": encoded([float(len(text)), 0.0, 1.0])}
        for index, text in enumerate(inputs)
    ]
    usage = {"prompt_tokens": tokens_each * len(inputs), "total_tokens": tokens_each * len(inputs)}
    return {"object": "list", "data": data, "model": "some-model", "usage": usage}


async def failure_of(
    wire: ImageWire, request: ImageRequest | None = None, deadlines: Deadlines = AMPLE
) -> ProviderError:
    """How an image call fails."""
    try:
        await wire.generate(request or image_request(), deadlines)
    except ProviderError as failure:
        return failure
    raise AssertionError("The call did not fail.")


def data_of(images: Sequence[Image]) -> list[bytes]:
    return [image.data for image in images]
