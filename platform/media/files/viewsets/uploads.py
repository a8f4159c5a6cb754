"""`/api/uploads`: the user's files for messages."""

from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from common.multipart import FormWithFileParser
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from media.files.errors import StorageUnavailable, UploadInUse, UploadQuotaExceeded
from media.files.selectors.uploads import get_upload, list_uploads
from media.files.serializers import UploadInputSerializer, UploadSerializer
from media.files.services import uploads
from server.file_bodies import TooManyFiles


class OwnersRequest(Request):
    """The request of a view for signed-in users; accounts are a layer above."""

    user: AbstractBaseUser  # type: ignore[assignment]


class UploadViewSet(ViewSet):
    """The user's files."""

    parser_classes = (FormWithFileParser,)

    @extend_schema(
        operation_id="listUploads",
        parameters=PAGE_PARAMETERS,
        responses=UploadSerializer(many=True),
    )
    def list(self, request: OwnersRequest) -> Response:
        """Your uploads, newest first."""
        return NewestFirst().answer(request, list_uploads(request.user), UploadSerializer)

    @extend_schema(
        operation_id="uploadFile",
        request={"multipart/form-data": UploadInputSerializer},
        responses={
            201: UploadSerializer,
            **error_responses(UploadQuotaExceeded, TooManyFiles, StorageUnavailable),
        },
    )
    def create(self, request: OwnersRequest) -> Response:
        """Upload a file, to send it with a message.

        Its type is detected from its bytes, not from its name or the form. Models get the text of
        UTF-8 files and the names of others. An upload that is sent with no message within 24 hours
        is deleted.
        """
        file = read(UploadInputSerializer, request.data)["file"]
        upload = uploads.store(user=request.user, name=file.name, file=file)
        return Response(UploadSerializer(upload).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="getUpload", responses=UploadSerializer)
    def retrieve(self, request: OwnersRequest, upload_id: UUID) -> Response:
        """An upload."""
        return Response(UploadSerializer(get_upload(request.user, upload_id)).data)

    @extend_schema(
        operation_id="deleteUpload", responses={204: None, **error_responses(UploadInUse)}
    )
    def destroy(self, request: OwnersRequest, upload_id: UUID) -> Response:
        """Delete an upload that belongs to no message."""
        uploads.delete(user=request.user, upload_id=upload_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
