"""Files by signed links: anybody with a link gets the file, from any page and without an
account."""

from typing import Any
from uuid import UUID

from django.core.files.storage import storages
from django.http import HttpRequest, HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from common.openapi import error_responses
from common.viewsets import ViewSet
from media.files.errors import LinkExpired, LinkNotValid, LinkRevoked, RangeNotSatisfiable
from media.files.selectors import outputs, uploads
from media.files.serving import Served, serve
from media.files.types import EXTENSIONS, disposition, inert_type, storage_path

LINK_PARAMETERS = [
    OpenApiParameter("expires", int, required=True, description="Unix seconds."),
    OpenApiParameter("signature", str, required=True),
    OpenApiParameter(
        "Range",
        str,
        OpenApiParameter.HEADER,
        description="One range of bytes; with several, the answer is the whole file.",
    ),
]
VERSION = OpenApiParameter(
    "version", int, description="In links that end when their owner signs out everywhere."
)
LINK_ERRORS = (LinkNotValid, LinkExpired, RangeNotSatisfiable)
# What a page may read of an answer.
EXPOSED = "accept-ranges, content-range, etag, x-request-id"


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
        response["Access-Control-Expose-Headers"] = EXPOSED
        return super().finalize_response(request, response, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        if isinstance(exc, RangeNotSatisfiable):
            response["Content-Range"] = f"bytes */{exc.size}"
        return response


def link_of(request: Request) -> dict[str, str]:
    """The parameters of a link beside the file's name: `{expires, signature}`."""
    return {name: request.query_params.get(name, "") for name in ("expires", "signature")}


class OutputViewSet(LinkViewSet):
    """`/files/{name}`: models' files."""

    @extend_schema(
        operation_id="downloadFile",
        parameters=[*LINK_PARAMETERS, VERSION],
        responses={
            **{(200, media_type): OpenApiTypes.BINARY for media_type in EXTENSIONS},
            **{(206, media_type): OpenApiTypes.BINARY for media_type in EXTENSIONS},
            **error_responses(LinkRevoked, *LINK_ERRORS),
        },
        auth=[],
    )
    def retrieve(self, request: Request, name: str) -> HttpResponseBase:
        """A file, by its link."""
        link = link_of(request)
        version = request.query_params.get("version", "")
        file = outputs.find_by_link(name=name, version=version, **link)
        served = Served(
            storages["outputs"],
            storage_path(name),
            id=file.pk,
            size=file.size,
            media_type=file.media_type,
            disposition=disposition(name, file.media_type),
            expires=int(link["expires"]),
        )
        return serve(request, served)


class DownloadViewSet(LinkViewSet):
    """`/files/uploads/{id}`: users' uploads, as downloads."""

    @extend_schema(
        operation_id="downloadUpload",
        parameters=LINK_PARAMETERS,
        responses={
            (200, "*/*"): OpenApiTypes.BINARY,
            (206, "*/*"): OpenApiTypes.BINARY,
            **error_responses(*LINK_ERRORS),
        },
        auth=[],
    )
    def retrieve(self, request: Request, upload_id: UUID) -> HttpResponseBase:
        """A file of a message, by its link.

        Browsers save it and do not show it, whatever its type.
        """
        link = link_of(request)
        upload = uploads.find_by_link(upload_id=upload_id, **link)
        served = Served(
            storages["uploads"],
            storage_path(str(upload.pk)),
            id=upload.pk,
            size=upload.size,
            media_type=inert_type(upload.media_type),
            disposition=str(content_disposition_header(True, upload.name)),
            expires=int(link["expires"]),
        )
        return serve(request, served)
