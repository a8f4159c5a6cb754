"""The benchmarks' embeddings: prebuilt base64, an answer for each number of inputs."""

from base64 import b64encode
from functools import cache
from struct import pack

import msgspec

DIMENSIONS = 1536
TOKENS_PER_INPUT = 12

_VECTOR = b64encode(pack(f"<{DIMENSIONS}f", *[DIMENSIONS**-0.5] * DIMENSIONS)).decode()


class _Asked(msgspec.Struct):
    input: str | list[msgspec.Raw]


_decode = msgspec.json.Decoder(_Asked).decode


def answer(body: bytes) -> bytes:
    """The answer to a request, whatever its inputs say."""
    inputs = _decode(body).input
    return _prebuilt(1 if isinstance(inputs, str) else len(inputs))


@cache
def _prebuilt(count: int) -> bytes:
    tokens = count * TOKENS_PER_INPUT
    return msgspec.json.encode(
        {
            "object": "list",
            "data": [
                {"object": "embedding", "index": index, "embedding": _VECTOR}
                for index in range(count)
            ],
            "model": "text-embedding-3-small",
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )
