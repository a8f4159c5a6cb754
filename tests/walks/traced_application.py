"""The web process's application, which notes the calls between files that a request causes."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures.thread import _WorkItem
from pathlib import Path
from types import FrameType
from typing import Any

from config.asgi import application as service

ROOT = f"{Path(__file__).parents[2]}/"
# A request with this header is traced; the trace is the file of this name in WALKS_FOLDER.
HEADER = b"x-walk"
# What the request has started goes on after its answer.
SECONDS_AFTER = 1.5

_run = _WorkItem.run
Message = MutableMapping[str, Any]
Calls = list[tuple[str | None, str]]


class Tracer:
    """The calls from one file of the service to another, each pair once, in the order in which
    they came first. `None` calls what a library has called."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str | None, str], None] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """A profile function of Python: https://docs.python.org/3/library/sys.html#sys.setprofile"""
        if event == "call" and (called := _file_of(frame)):
            caller = frame.f_back
            while caller and not _file_of(caller):
                caller = caller.f_back
            name = _file_of(caller) if caller else None
            if name != called:
                self.calls.setdefault((name, called))


def _file_of(frame: FrameType) -> str | None:
    """The path of a frame's file, of a file of the service."""
    path = frame.f_code.co_filename
    if not path.startswith(ROOT) or "/.venv/" in path or "/tests/" in path:
        return None
    return path.removeprefix(ROOT)


def _work_in_threads(tracer: Tracer | None) -> None:
    """Trace what pools of threads do from now on: their threads have begun before."""

    def run(work: _WorkItem[Any]) -> None:
        sys.setprofile(tracer)
        _run(work)

    _WorkItem.run = run  # type: ignore[assignment]


async def application(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    walk = dict(scope.get("headers", ())).get(HEADER)
    if walk is None:
        await service(scope, receive, send)
        return
    tracer = Tracer()
    _work_in_threads(tracer)
    sys.setprofile(tracer)
    try:
        await service(scope, receive, send)
        await asyncio.sleep(SECONDS_AFTER)
    finally:
        sys.setprofile(None)
        _work_in_threads(None)
    trace = Path(os.environ["WALKS_FOLDER"]) / walk.decode()
    trace.with_suffix(".new").write_text(json.dumps([*tracer.calls]))
    trace.with_suffix(".new").rename(trace)
