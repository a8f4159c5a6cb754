"""Replay over HTTP: the events of a stream that its sockets deliver, in pages."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers

from accounts.types import AuthenticatedRequest
from events import selectors
from events.cursors import MAX_SEQ, read_after_seq, read_limit
from events.types import Page

MAX_EVENTS = 500
MAX_BYTES = 1_000_000

EVENTS = inline_serializer(
    "Event",
    {
        "seq": serializers.IntegerField(min_value=1, help_text="Counts up by one from 1."),
        "type": serializers.CharField(help_text="What happened, as `resource.verb`."),
        "session_id": serializers.UUIDField(
            help_text="Whose stream it is: that session, or that user."
        ),
        "created_at": serializers.DateTimeField(),
        "actor": serializers.CharField(help_text="`user`, `system` or `model:<key>`."),
        "data": serializers.DictField(help_text="What the type says."),
    },
    many=True,
)


LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "default": MAX_EVENTS},
    description=f"At most so many, and never more than {MAX_EVENTS} or 1 MB.",
)
NEXT_SEQ = OpenApiParameter(
    "X-Next-Seq",
    int,
    OpenApiParameter.HEADER,
    response=[200],
    description="The `after_seq` of the next page.",
)
# For a list that a user's own stream keeps up to date.
FOLLOW_FROM = OpenApiParameter(
    "X-Next-Seq",
    int,
    OpenApiParameter.HEADER,
    response=[200],
    description="The `after_seq` with which `/api/ws` brings what changes after this list.",
)


def limit_of(request: AuthenticatedRequest) -> int:
    """The number of events that the client asks for, at most. Raises ValidationFailed."""
    return read_limit(request.query_params.get("limit"), MAX_EVENTS)


def replay(
    request: AuthenticatedRequest, kind: str, stream_id: UUID, *, after_seq: int, limit: int
) -> HttpResponse:
    """A page of the user's stream. Raises NotFound, EventsPurged."""
    page = selectors.read_page(
        account=request.user,
        kind=kind,
        stream_id=stream_id,
        after_seq=after_seq,
        limit=limit,
        max_bytes=MAX_BYTES,
    )
    return as_page(page)


def as_page(page: Page) -> HttpResponse:
    """The JSON texts of the events are joined, not parsed: they are what the socket sends."""
    headers = {"X-Next-Seq": str(page.next_seq)}
    return HttpResponse(page.body, content_type="application/json", headers=headers)


# Describes a view of `<uuid:session_id>/events` that answers with `replay_session`. Its summary is
# that of the view.
describes_replay = extend_schema(
    parameters=[
        OpenApiParameter(
            "after_seq",
            {"type": "integer", "minimum": 0, "maximum": MAX_SEQ, "default": 0},
            description="Events after the one of this `seq`.",
        ),
        LIMIT,
        NEXT_SEQ,
    ],
    responses=EVENTS,
)


def replay_session(request: AuthenticatedRequest, kind: str, session_id: UUID) -> HttpResponse:
    """A page of the stream of a session, as the query asks for it. Raises NotFound,
    ValidationFailed."""
    after_seq = read_after_seq(request.query_params.get("after_seq")) or 0
    return replay(request, kind, session_id, after_seq=after_seq, limit=limit_of(request))
