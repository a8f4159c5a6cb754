"""The yardstick: a pass-through without keys, limits or money.

`UPSTREAM` is the upstream's base URL. Run as `uvicorn bench.yardstick:application`.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

Message = dict[str, Any]
_UPSTREAM = os.environ.get("UPSTREAM", "")
_HEADERS = {"authorization": "Bearer x", "content-type": "application/json"}
_sessions: list[aiohttp.ClientSession] = []


def _session() -> aiohttp.ClientSession:
    if not _sessions:
        connector = aiohttp.TCPConnector(limit=0)
        _sessions.append(aiohttp.ClientSession(connector=connector, auto_decompress=False))
    return _sessions[0]


async def application(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Relay one call: status, content type and body, as it comes."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    target = _UPSTREAM + scope["path"].removeprefix("/v1")
    async with _session().post(target, data=body, headers=_HEADERS) as answer:
        names = ("content-type", "content-length")
        kept = [(n.encode(), answer.headers[n].encode()) for n in names if n in answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": kept})
        async for chunk in answer.content.iter_any():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body"})
