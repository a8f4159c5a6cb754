"""Answers a request for a stored file: whole, in part, its headers alone, or that it has not
changed (RFC 9110, 13 and 14)."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from django.core.files import File
from django.core.files.storage import Storage
from django.http import (
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotModified,
    StreamingHttpResponse,
)
from django.utils.http import parse_etags
from rest_framework.request import Request

from media.files.errors import FileGone, StorageUnavailable
from media.files.ranges import Span, requested_span

CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Served:
    """A stored file by its link, which is good until `expires`, in Unix seconds."""

    storage: Storage
    path: str
    id: UUID
    size: int
    media_type: str
    disposition: str
    expires: int

    @property
    def etag(self) -> str:
        """A strong tag: the bytes of a file never change."""
        return f'"{self.id}"'

    def headers(self) -> dict[str, str]:
        """The headers of every answer with this file or a part of it."""
        return {
            "Accept-Ranges": "bytes",
            "Cache-Control": f"private, max-age={self.expires - int(time.time())}",
            "Content-Disposition": self.disposition,
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Content-Type": self.media_type,
            "Cross-Origin-Resource-Policy": "cross-origin",
            "ETag": self.etag,
        }


def serve(request: Request, served: Served) -> HttpResponseBase:
    """The answer to a GET or HEAD. Raises FileGone, RangeNotSatisfiable, StorageUnavailable."""
    headers = served.headers()
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if any(tag.removeprefix("W/") in ("*", served.etag) for tag in known):
        return HttpResponseNotModified(headers=headers)
    span = _requested(request, served)
    file = _opened(served)
    if request.method == "HEAD":
        file.close()
        return HttpResponse(headers=headers | {"Content-Length": str(served.size)})
    if span is None:
        return _sent(file, Span(0, served.size), headers, status=200)
    headers["Content-Range"] = f"bytes {span.first}-{span.end - 1}/{served.size}"
    return _sent(file, span, headers, status=206)


def _requested(request: Request, served: Served) -> Span | None:
    """The span that a GET asks for; with `If-Range`, only if it is of the same file."""
    if request.method != "GET":
        return None
    if request.headers.get("If-Range", served.etag) != served.etag:
        return None
    return requested_span(request.headers.get("Range", ""), size=served.size)


def _opened(served: Served) -> File[bytes]:
    try:
        return served.storage.open(served.path)
    except FileNotFoundError:
        raise FileGone from None
    except OSError as error:
        raise StorageUnavailable from error


def _sent(
    file: File[bytes], span: Span, headers: dict[str, str], *, status: int
) -> StreamingHttpResponse:
    headers["Content-Length"] = str(span.length)
    return StreamingHttpResponse(Chunks(file, span), status=status, headers=headers)


class Chunks:
    """A span of an open file, read in threads. The response that it is given to closes it."""

    def __init__(self, file: File[bytes], span: Span) -> None:
        self._file = file
        self._span = span

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._span.length
        await asyncio.to_thread(self._file.seek, self._span.first)
        while left > 0:
            chunk = await asyncio.to_thread(self._file.read, min(left, CHUNK_BYTES))
            if not chunk:
                return
            left -= len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()
