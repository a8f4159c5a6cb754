"""The yardsticks of `/api`: the barest views of Django and of REST framework.

One view relays the upstream's stream, without authentication, storage, billing or events. The
others run the statements of the service (`bench.api.record`) in a transaction that is rolled back,
and return the service's answer, or call the upstream.

`UPSTREAM` is the upstream's base URL, `RECORDED` the file of the records, if there is one. Run as
`uvicorn bench.reply_yardstick:application`.
"""

import json
import os
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.request import Request as UpstreamRequest
from urllib.request import urlopen

import aiohttp
import django
import environ
from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import path

_OPEN_TO_ALL: dict[str, Any] = {"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None}
# Set before Django reads them: no middlewares, and none of the service's apps.
settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {**environ.Env().db(), "OPTIONS": {"pool": {"max_size": 8}}}},
    REST_FRAMEWORK=_OPEN_TO_ALL,
    ROOT_URLCONF=__name__,
    SECRET_KEY="bench",  # noqa: S106
)
django.setup()

from django.core.asgi import get_asgi_application  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

_URL = os.environ.get("UPSTREAM", "") + "/chat/completions"
_JSON = {"Content-Type": "application/json"}
_sessions: list[aiohttp.ClientSession] = []
# For each request: statements with their parameters, and the answer.
_records: dict[str, tuple[list[tuple[str, Any]], object]] = {}
if "RECORDED" in os.environ:
    _records = pickle.loads(Path(os.environ["RECORDED"]).read_bytes())  # noqa: S301 - our own


def _session() -> aiohttp.ClientSession:
    if not _sessions:
        connector = aiohttp.TCPConnector(limit=0)
        _sessions.append(aiohttp.ClientSession(connector=connector, auto_decompress=False))
    return _sessions[0]


async def reply(request: HttpRequest, anything: str) -> StreamingHttpResponse:
    """Send the message to the upstream, and relay its answer as it comes."""
    question = _question(json.loads(request.body)["content"], is_streamed=True)
    return StreamingHttpResponse(_relayed(question), content_type="text/event-stream")


async def _relayed(question: dict[str, object]) -> AsyncIterator[bytes]:
    async with _session().post(_URL, json=question) as answer:
        async for chunk in answer.content.iter_any():
            yield chunk


class SameStatements(APIView):
    """Run the statements of the service, and nothing else."""

    def get(self, request: Request, name: str) -> Response:
        return Response(_repeat(name))

    def post(self, request: Request, name: str) -> HttpResponseBase:
        """Send a message."""
        question = _question(request.data["content"], is_streamed=request.data["stream"])
        _repeat(name)
        if question["stream"]:
            return StreamingHttpResponse(_relayed(question), content_type="text/event-stream")
        asked = UpstreamRequest(_URL, json.dumps(question).encode(), _JSON)  # noqa: S310 - http
        with urlopen(asked) as answer:  # noqa: S310
            return Response(json.loads(answer.read()))


def _question(content: str, *, is_streamed: bool) -> dict[str, object]:
    messages = [{"role": "user", "content": content}]
    return {"model": "gpt-6-luna", "messages": messages, "stream": is_streamed}


def _repeat(name: str) -> object:
    """Run the statements of a record. Returns its answer."""
    statements, answer = _records[name]
    with transaction.atomic(), connection.cursor() as cursor:
        for sql, parameters in statements:
            cursor.execute(sql, parameters)
            if cursor.description:
                cursor.fetchall()
        transaction.set_rollback(True)
    return answer


urlpatterns = [path("same/<path:name>", SameStatements.as_view()), path("<path:anything>", reply)]
application = get_asgi_application()
