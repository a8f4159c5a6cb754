"""`/api/council/cards`: what concerns one card."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import to_builtins
from rest_framework import status
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from accounts.types import AuthenticatedRequest
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.pagination import MAX_LIMIT, PAGE_PARAMETERS, read_limit
from common.validation import read
from common.viewsets import ViewSet
from council import diffs
from council.errors import (
    CardRunning,
    NothingToAnswer,
    SessionBusy,
    TooManyRestorations,
    TooManyVersions,
)
from council.exports import MEDIA_TYPES, file_name, render
from council.request_serializers import (
    DiffInputSerializer,
    ExportInputSerializer,
    MessageInputSerializer,
    RegenerateInputSerializer,
    RestoreInputSerializer,
    VersionsQuerySerializer,
)
from council.selectors.cards import get_card, state_of, text_of
from council.selectors.comparisons import get_sides
from council.selectors.documents import get_document
from council.selectors.threads import thread_of
from council.selectors.turns import card_of
from council.selectors.versions import list_versions
from council.serializers.documents import DiffSerializer, DocumentSerializer, SideSerializer
from council.serializers.sessions import (
    CardSerializer,
    ExchangeSerializer,
    ThreadMessageSerializer,
    VersionRowSerializer,
)
from council.services import conversation, sessions, stopping
from council.types import MAX_VERSIONS_WITH_CONTENT
from council.viewsets.turns import STARTS, answer, carry_out


class CardViewSet(ViewSet):
    """Cards of your councils. A removed one is deleted for its user."""

    @extend_schema(operation_id="removeCard", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Take a card off its council.

        A call that runs is stopped, at its first output or after it, and billed for the prompt and
        what has come. One that waits is never made.
        """
        sessions.remove(user=request.user, card_id=card_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="stopCard", request=None, responses={200: CardSerializer, 202: CardSerializer}
    )
    def stop(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Stop the call that writes a card, and keep what has come.

        202: the card has the status `cancelled` soon after. The prompt and what has come are
        billed, once; a call that waits is never made. 200: nothing was being written, and the card
        is as it was.
        """
        stopped = stopping.stop_card(user=request.user, card_id=card_id)
        card = state_of(request.user, get_card(request.user, card_id), with_text=True)
        done = status.HTTP_202_ACCEPTED if stopped else status.HTTP_200_OK
        return Response(CardSerializer(card).data, status=done)

    @extend_schema(
        operation_id="regenerateCard",
        parameters=[IDEMPOTENCY_KEY],
        request=RegenerateInputSerializer,
        responses={
            202: CardSerializer,
            **error_responses(CardRunning, SessionBusy, TooManyVersions, *STARTS),
        },
    )
    def regenerate(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Write a card's answer again, as a new version; the older ones stay."""
        body = read(RegenerateInputSerializer, request.data)
        turn = carry_out(request, sessions.regenerate, body, card_id=card_id)
        return answer(turn, CardSerializer, card_of(request.user, turn))

    @extend_schema(
        operation_id="listCardVersions",
        parameters=[VersionsQuerySerializer, PAGE_PARAMETERS[-1]],
        responses=VersionRowSerializer(many=True),
    )
    def versions(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """The history of a card, newest first."""
        asked = read(VersionsQuerySerializer, request.query_params.dict())
        with_text = "include" in asked
        limit = min(asked["limit"], MAX_VERSIONS_WITH_CONTENT if with_text else MAX_LIMIT)
        card, before = get_card(request.user, card_id), asked.get("before")
        # One more than is shown, to see whether there is more.
        found = list_versions(request.user, card, limit + 1, before=before, with_text=with_text)
        rows = [VersionRowSerializer(version).data for version in found[:limit]]
        if len(found) == len(rows):
            return Response(rows)
        here = request.build_absolute_uri()
        way_on = replace_query_param(here, "before", rows[-1]["version"])
        return Response(rows, headers={"Link": f'<{way_on}>; rel="next"'})

    @extend_schema(
        operation_id="restoreCard",
        request=RestoreInputSerializer,
        responses={
            200: CardSerializer,
            **error_responses(
                CardRunning, SessionBusy, NothingToAnswer, TooManyRestorations, TooManyVersions
            ),
        },
    )
    def restore(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Make an earlier version the current one again.

        It is appended as a new version, so that nothing of the history is lost.
        """
        body = read(RestoreInputSerializer, request.data)
        card = sessions.restore(user=request.user, card_id=card_id, **body)
        return Response(CardSerializer(state_of(request.user, card, with_text=True)).data)

    @extend_schema(
        operation_id="sendCardMessage",
        parameters=[IDEMPOTENCY_KEY],
        request=MessageInputSerializer,
        responses={
            202: ExchangeSerializer,
            **error_responses(CardRunning, SessionBusy, NothingToAnswer, TooManyVersions, *STARTS),
        },
    )
    def say(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Go on with one card. Its reply is a new version of it."""
        body = read(MessageInputSerializer, request.data)
        turn = carry_out(request, conversation.message_card, body, card_id=card_id)
        exchange = {"message": turn.message, "card": card_of(request.user, turn)}
        return answer(turn, ExchangeSerializer, exchange)

    @extend_schema(
        operation_id="listCardMessages",
        parameters=[
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "default": MAX_LIMIT},
                description=f"At most so many, and never more than {MAX_LIMIT}: the newest ones.",
            )
        ],
        responses=ThreadMessageSerializer(many=True),
    )
    def messages(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """The conversation with a card as it stands, oldest first.

        It begins with the question. Answers that were regenerated or revised are in the versions.
        """
        limit = read_limit(request.query_params.get("limit"))
        thread = thread_of(get_card(request.user, card_id))
        return Response([ThreadMessageSerializer(message).data for message in thread[-limit:]])

    @extend_schema(
        operation_id="compareCards", parameters=[DiffInputSerializer], responses=DiffSerializer
    )
    def diff(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """What differs between two cards of a council, or two versions of a card.

        The other side is `against`, which may be left out where the council has exactly two cards,
        and where two versions of this card are named. `format` says in what pieces: `words`, or
        lines; `unified` gives the lines in the unified format beside. The texts of `equal` and
        `delete` hunks make the left side, those of `equal` and `insert` the right one.
        """
        asked = read(DiffInputSerializer, request.query_params.dict())
        form = asked.pop("format")
        left, right = get_sides(get_card(request.user, card_id), **asked)
        difference = diffs.compare(text_of(left), text_of(right), form)
        sides = {"left": SideSerializer(left).data, "right": SideSerializer(right).data}
        # There may be tens of thousands of hunks, for which a serializer takes its time.
        return Response({**sides, **to_builtins(difference)})

    @extend_schema(
        operation_id="exportCard",
        parameters=[ExportInputSerializer],
        responses={
            (200, "text/markdown"): str,
            (200, "application/json"): DocumentSerializer,
            (200, "text/plain"): str,
        },
    )
    def export(self, request: AuthenticatedRequest, card_id: UUID) -> HttpResponse:
        """A card as a file: its conversation, and the sources of a merge."""
        asked = read(ExportInputSerializer, request.query_params.dict())
        card, form = get_card(request.user, card_id), asked["format"]
        document = get_document(request.user, card, asked.get("version"))
        disposition = content_disposition_header(True, file_name(document, form))
        return HttpResponse(
            render(document, form),
            content_type=MEDIA_TYPES[form],
            headers={"Content-Disposition": disposition or "attachment"},
        )
