"""`/files/uploads/{id}`: users' uploads, as downloads."""

from uuid import UUID

from django.core.files.storage import storages
from django.http import HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from common.openapi import error_responses
from files.errors import LinkExpired, LinkNotValid
from files.selectors import uploads
from files.types import inert_type, storage_path
from files.viewsets.links import LINK_PARAMETERS, LinkViewSet, link_of, serve


class DownloadViewSet(LinkViewSet):
    """Users' uploads, by the links that their owners received."""

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
