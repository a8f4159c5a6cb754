"""The upstream of the benchmarks: prepared answers, no journal, minimal parsing.

A body with `slow` in it streams one word every half second, one with `long` three times as many
words as others; all other answers come at once. To a body with `tools` in it, the words are those
of a tool call's arguments. With `timed` in the body, each word is the time at
which it was sent: nanoseconds of the system's monotonic clock (`time.monotonic_ns`), in 19 digits
however young the clock is.
"""

import asyncio
import time
from base64 import b64encode
from functools import cache
from struct import pack

import msgspec

from simulator import bench_videos
from simulator.connection import Receive, Scope, Send

CHUNKS = 60
SLOW_SECONDS = 0.5
_PROMPT_TOKENS = 12


def _encode(choices: list[dict[str, object]], kind: str, **more: object) -> bytes:
    return msgspec.json.encode(
        {
            "id": "chatcmpl-bench",
            "object": kind,
            "created": 1_760_000_000,
            "model": "gpt-6-luna",
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": choices,
        }
        | more
    )


def _usage(tokens: int) -> dict[str, object]:
    return {
        "prompt_tokens": _PROMPT_TOKENS,
        "completion_tokens": tokens,
        "total_tokens": _PROMPT_TOKENS + tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _event(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return b"data: " + _encode([choice], "chat.completion.chunk", usage=None) + b"\n\n"


_WHOLE = _encode(
    [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "A short answer.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "chat.completion",
    usage=_usage(3),
)
_WORDS = [
    _event({"role": "assistant", "content": "word", "refusal": None}),
    *[_event({"content": " word"})] * (CHUNKS - 1),
]


def _argument(text: str, **more: object) -> bytes:
    call = {"index": 0, "function": {"arguments": text}} | more
    return _event({"tool_calls": [call]})


_CALLED = {"id": "call_2", "type": "function"}
_ARGUMENTS = [
    _argument("", **_CALLED, function={"name": "write_file", "arguments": ""}),
    _argument('{"path": "'),
    *[_argument(" word")] * (CHUNKS - 3),
    _argument('"}'),
]
_START_STREAM = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
}


def _end(words: int, reason: str = "stop") -> dict[str, object]:
    usage_chunk = _encode([], "chat.completion.chunk", usage=_usage(words))
    body = _event({}, reason) + b"data: " + usage_chunk + b"\n\ndata: [DONE]\n\n"
    return {"type": "http.response.body", "body": body}


def _sent(words: list[bytes]) -> list[dict[str, object]]:
    return [{"type": "http.response.body", "body": word, "more_body": True} for word in words]


_BODY_WORDS, _BODY_END = _sent(_WORDS), _end(CHUNKS)
_LONG_BODY_WORDS, _LONG_BODY_END = _BODY_WORDS * 3, _end(CHUNKS * 3)
_BODY_ARGUMENTS, _ARGUMENTS_END = _sent(_ARGUMENTS), _end(CHUNKS, "tool_calls")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """A request to `/runway` is about a video (`bench_videos`), a POST to `.../embeddings` is an
    embeddings call, any other request a chat call. Two byte searches in the body find its
    options."""
    if scope["path"].startswith("/runway/"):
        await bench_videos.application(scope, receive, send)
        return
    body = await _body(receive)
    if scope["path"].endswith("/embeddings"):
        await _send_whole(send, _embeddings(body))
        return
    if b'"stream":true' not in body and b'"stream": true' not in body:
        await _send_whole(send, _WHOLE)
        return
    slow, timed = b"slow" in body, b"timed" in body
    words, end = _answer_to(body)
    await send(_START_STREAM)
    for word in words:
        await send(_moment() if timed else word)
        # Even a pause of zero sends each word in a packet of its own, as a real provider does.
        await asyncio.sleep(SLOW_SECONDS if slow else 0)
    await send(end)


def _answer_to(body: bytes) -> tuple[list[dict[str, object]], dict[str, object]]:
    """The words of a stream, and its end."""
    if b'"tools":' in body:
        return _BODY_ARGUMENTS, _ARGUMENTS_END
    if b"long" in body:
        return _LONG_BODY_WORDS, _LONG_BODY_END
    return _BODY_WORDS, _BODY_END


def _moment() -> dict[str, object]:
    word = _event({"content": f" {time.monotonic_ns():019d}"})
    return {"type": "http.response.body", "body": word, "more_body": True}


async def _send_whole(send: Send, body: bytes) -> None:
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False):
        message = await receive()
        body += message.get("body", b"")
    return body


DIMENSIONS = 1536
TOKENS_PER_INPUT = 12

_VECTOR = b64encode(pack(f"<{DIMENSIONS}f", *[DIMENSIONS**-0.5] * DIMENSIONS)).decode()


class _Inputs(msgspec.Struct):
    input: str | list[msgspec.Raw]


_decode_inputs = msgspec.json.Decoder(_Inputs).decode


def _embeddings(body: bytes) -> bytes:
    """The answer to a request, regardless of its inputs."""
    inputs = _decode_inputs(body).input
    return _prebuilt_embeddings(1 if isinstance(inputs, str) else len(inputs))


@cache
def _prebuilt_embeddings(count: int) -> bytes:
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
