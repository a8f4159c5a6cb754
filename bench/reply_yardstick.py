"""The yardstick of streamed replies: a bare Django view that relays what the upstream streams.

Nobody is authenticated, nothing is stored, billed or told to anybody else. `UPSTREAM` names the
upstream's base URL. Run as `uvicorn bench.reply_yardstick:application`.
"""

import json
import os
from collections.abc import AsyncIterator

import aiohttp
import django
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path

# Before Django reads them: without middlewares, and with none of the service's apps.
settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="bench")  # noqa: S106
django.setup()

from django.core.asgi import get_asgi_application  # noqa: E402

_URL = os.environ.get("UPSTREAM", "") + "/chat/completions"
_sessions: list[aiohttp.ClientSession] = []


def _session() -> aiohttp.ClientSession:
    if not _sessions:
        connector = aiohttp.TCPConnector(limit=0)
        _sessions.append(aiohttp.ClientSession(connector=connector, auto_decompress=False))
    return _sessions[0]


async def reply(request: HttpRequest, anything: str) -> StreamingHttpResponse:
    """Ask the upstream what the message says, and pass on its answer as it comes."""
    content = json.loads(request.body)["content"]
    return StreamingHttpResponse(_relayed(content), content_type="text/event-stream")


async def _relayed(content: str) -> AsyncIterator[bytes]:
    messages = [{"role": "user", "content": content}]
    question = {"model": "gpt-6-luna", "messages": messages, "stream": True}
    async with _session().post(_URL, json=question) as answer:
        async for chunk in answer.content.iter_any():
            yield chunk


urlpatterns = [path("<path:anything>", reply)]
application = get_asgi_application()
