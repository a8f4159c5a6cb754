"""Chunks of a stream as providers send them."""

import json
from typing import Any

DONE = b"data: [DONE]\n\n"


def event(payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def delta(**fields: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]})


def text(words: str) -> bytes:
    return delta(content=words)


def finish(reason: str = "stop", **fields: Any) -> bytes:
    choice = {"index": 0, "delta": {}, "finish_reason": reason}
    return event({"choices": [choice], **fields})


def usage(prompt: int = 9, completion: int = 3, **fields: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **fields}
