"""`/files/{name}`: models' files."""

from django.core.files.storage import storages
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from common.openapi import error_responses
from files.errors import LinkExpired, LinkNotValid
from files.selectors import outputs
from files.types import storage_path
from files.viewsets.links import LINK_PARAMETERS, LinkViewSet, link_of, serve


class OutputViewSet(LinkViewSet):
    """Models' files, by their links."""

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
