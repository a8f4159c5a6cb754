"""`/api/files/{message_id}`: the files of a message."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.viewsets import ViewSet
from conversations.selectors.files import files_of
from conversations.serializers.messages import AttachmentSerializer


class FileViewSet(ViewSet):
    """Files that go with messages."""

    @extend_schema(operation_id="listMessageFiles", responses=AttachmentSerializer(many=True))
    def list(self, request: AuthenticatedRequest, message_id: str) -> Response:
        """The files of a message that you may read, with links to download them.

        A link stops working with the message, and while the account is closed.
        """
        files = files_of(request.user, message_id)
        return Response([AttachmentSerializer(file).data for file in files])
