"""Serves the files of the web app, in front of Django: they need neither a turn nor a thread, and
do not count towards the limit of a client, because a page has dozens of them."""

from collections.abc import Iterator

from django.conf import settings
from django.http.request import validate_host

from common import request_line
from config.web_app.assets import Answer, Asset
from config.web_app.build import current_build
from server.asgi import Application, Headers, Receive, Scope, Send, domain_of
from server.traced_requests import name_request

# What is sent at once: a client that reads slowly does not have all of a file in a buffer.
CHUNK_BYTES = 65_536
# In logs and traces.
ROUTE = "web app"


def file_applications(otherwise: Application) -> dict[str, Application]:
    """An application for each file of the build, by its path; `otherwise` has what they do not
    answer."""
    build = current_build()
    files = build.files if build else {}
    return {path: _File(asset, otherwise) for path, asset in files.items()}


class _File:
    """Answers GET and HEAD, on the hosts that have pages."""

    def __init__(self, asset: Asset, otherwise: Application) -> None:
        self._asset = asset
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method not in ("GET", "HEAD") or not _has_pages(domain_of(scope["headers"])):
            await self._otherwise(scope, receive, send)
            return
        request_line.current().route = ROUTE
        name_request(method, ROUTE)
        headers = dict(scope["headers"])
        answer = self._asset.answer(
            headers.get(b"accept-encoding", b"").decode("latin-1"),
            headers.get(b"if-none-match", b"").decode("latin-1"),
        )
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": _encoded(answer),
            }
        )
        for chunk in _chunks(b"" if method == "HEAD" else answer.body):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _has_pages(domain: str) -> bool:
    return domain != settings.API_HOST and validate_host(domain, settings.ALLOWED_HOSTS)


def _encoded(answer: Answer) -> Headers:
    return [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in answer.headers.items()
    ]


def _chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), CHUNK_BYTES):
        yield body[start : start + CHUNK_BYTES]
