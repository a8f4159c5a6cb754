"""`/api/cms`: pages, news and banners."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from content.request_serializers import EntriesQuerySerializer
from content.selectors.entries import list_published
from content.serializers import EntrySerializer


class EntryViewSet(ViewSet):
    """For everybody. A stale Authorization header is ignored."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    cache_control = "public, max-age=60"

    @extend_schema(
        operation_id="listContentEntries",
        parameters=[*PAGE_PARAMETERS, EntriesQuerySerializer],
        responses=EntrySerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """Pages, news and banners that are public now.

        Those of high priority come first, then the newest. Nobody needs to sign in.
        """
        asked = read(EntriesQuerySerializer, request.query_params.dict())
        return NewestFirst("priority", "publish_at", "id").answer(
            request, list_published(**asked), EntrySerializer
        )
