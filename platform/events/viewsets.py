"""`/api/events`: the signed-in user's own stream."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
from common.viewsets import ViewSet
from events.cursors import MAX_SEQ, read_after_seq
from events.errors import EventsPurged
from events.replay import EVENTS, LIMIT, NEXT_SEQ, as_page, limit_of, replay
from events.selectors import get_head
from events.types import USER_STREAM, Page


class UserEventsViewSet(ViewSet):
    """Changes of your lists."""

    @extend_schema(
        operation_id="listEvents",
        parameters=[
            OpenApiParameter(
                "after_seq",
                {"type": "integer", "minimum": 0, "maximum": MAX_SEQ},
                description="Events after the one of this `seq`. Without it there are none, and "
                "`X-Next-Seq` says how far the events have come.",
            ),
            LIMIT,
            NEXT_SEQ,
        ],
        responses={200: EVENTS, **error_responses(EventsPurged)},
    )
    def list(self, request: AuthenticatedRequest) -> HttpResponse:
        """The changes of your lists, in order, exactly as the socket `/api/ws` delivers them.

        Ask without `after_seq` before you load the lists, and open the socket with the `X-Next-Seq`
        of the answer: nothing is missed. Events are kept for 7 days, the newest 10,000 of them.
        """
        account = request.user
        after_seq = read_after_seq(request.query_params.get("after_seq"))
        limit = limit_of(request)
        if after_seq is None:
            return as_page(Page("[]", get_head(account, USER_STREAM, account.pk)))
        return replay(request, USER_STREAM, account.pk, after_seq=after_seq, limit=limit)
