"""Files by signed links: anybody with a link gets the file, from any page and without an
account."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from django.core.files import File
from django.core.files.storage import Storage, storages
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from common.openapi import error_responses
from common.viewsets import ViewSet
from files.errors import FileGone, LinkExpired, LinkNotValid
from files.selectors import outputs, uploads
from files.types import inert_type, storage_path

CHUNK_BYTES = 256 * 1024

LINK_PARAMETERS = [
    OpenApiParameter("expires", int, required=True, description="Unix seconds."),
    OpenApiParameter("signature", str, required=True),
]


class LinkViewSet(ViewSet):
    """Any page may show or fetch a file; a browser that opens it runs nothing in it."""

    authentication_classes = ()
    permission_classes = ()

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The preflight of a page: any origin may send any headers, without credentials."""
        headers = {
            "Access-Control-Allow-Methods": ", ".join(self.allowed_methods),
            "Access-Control-Max-Age": "600",
            "Vary": "Access-Control-Request-Headers",
        }
        wanted = request.headers.get("Access-Control-Request-Headers")
        if wanted is not None:
            headers["Access-Control-Allow-Headers"] = wanted
        return Response(status=status.HTTP_204_NO_CONTENT, headers=headers)

    def perform_content_negotiation(
        self, request: Request, force: bool = False
    ) -> tuple[BaseRenderer, str]:
        """Any `Accept` is fine: a file has one format, and an error is JSON."""
        return super().perform_content_negotiation(request, force=True)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "x-request-id"
        return super().finalize_response(request, response, *args, **kwargs)


def link_of(request: Request) -> dict[str, str]:
    """The parameters of a link beside the file's name: `{expires, signature}`."""
    return {name: request.query_params.get(name, "") for name in ("expires", "signature")}


def serve(
    storage: Storage, path: str, *, size: int, media_type: str, disposition: str, expires: str
) -> StreamingHttpResponse:
    """A stored file, until the link to it `expires`. Raises FileGone."""
    try:
        opened = storage.open(path)
    except FileNotFoundError:
        raise FileGone from None
    return StreamingHttpResponse(
        Chunks(opened),
        headers={
            "Content-Type": media_type,
            "Content-Length": str(size),
            "Content-Disposition": disposition,
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Cache-Control": f"private, max-age={int(expires) - int(time.time())}",
            "Cross-Origin-Resource-Policy": "cross-origin",
        },
    )


class Chunks:
    """An open file, read in threads. The response that it is given to closes it."""

    def __init__(self, file: File[bytes]) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self._file.read, CHUNK_BYTES):
            yield chunk

    def close(self) -> None:
        self._file.close()


class OutputViewSet(LinkViewSet):
    """`/files/{name}`: models' files."""

    @extend_schema(
        parameters=LINK_PARAMETERS,
        responses={
            (200, "image/*"): OpenApiTypes.BINARY,
            **error_responses(LinkNotValid, LinkExpired),
        },
        auth=[],
    )
    def retrieve(self, request: Request, name: str) -> HttpResponseBase:
        """A file, by its link."""
        link = link_of(request)
        file = outputs.find_by_link(name=name, **link)
        return serve(
            storages["outputs"],
            storage_path(name),
            size=file.size,
            media_type=file.media_type,
            disposition=f'inline; filename="{name}"',
            expires=link["expires"],
        )


class DownloadViewSet(LinkViewSet):
    """`/files/uploads/{id}`: users' uploads, as downloads."""

    @extend_schema(
        parameters=LINK_PARAMETERS,
        responses={
            (200, "*/*"): OpenApiTypes.BINARY,
            **error_responses(LinkNotValid, LinkExpired),
        },
        auth=[],
    )
    def retrieve(self, request: Request, upload_id: UUID) -> HttpResponseBase:
        """A file of a message, by its link.

        Browsers save it and do not show it, whatever its type.
        """
        link = link_of(request)
        upload = uploads.find_by_link(upload_id=upload_id, **link)
        return serve(
            storages["uploads"],
            storage_path(str(upload.pk)),
            size=upload.size,
            media_type=inert_type(upload.media_type),
            disposition=str(content_disposition_header(True, upload.name)),
            expires=link["expires"],
        )
