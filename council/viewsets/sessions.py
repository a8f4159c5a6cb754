"""`/api/council/sessions`: councils, and what concerns all of their cards."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.validation import read
from common.viewsets import ViewSet
from council.errors import (
    CardRunning,
    NotEnoughCards,
    NothingToAnswer,
    SessionBusy,
    TooManyCards,
    TooManySessions,
    TooManyVersions,
)
from council.request_serializers import (
    CardInputSerializer,
    DebateInputSerializer,
    MergeInputSerializer,
    MessageInputSerializer,
    SessionChangesInputSerializer,
    SessionInputSerializer,
    SessionsQuerySerializer,
)
from council.selectors.sessions import get_session, list_sessions, summaries_of
from council.selectors.turns import card_of, cards_of
from council.serializers.sessions import (
    CardSerializer,
    ChatSerializer,
    DebateSerializer,
    SessionRowSerializer,
    SessionSerializer,
)
from council.services import conversation, debates, merges, sessions, stopping
from council.types import MIN_ANSWERS, STREAM
from council.viewsets.turns import STARTS, answer, carry_out
from events.replay import describes_replay, replay_session


class SessionViewSet(ViewSet):
    """Councils: several models answer one question side by side."""

    @extend_schema(
        operation_id="listCouncils",
        parameters=[*PAGE_PARAMETERS, SessionsQuerySerializer],
        responses=SessionRowSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """Your councils, newest first."""
        asked = read(SessionsQuerySerializer, request.query_params.dict())
        return NewestFirst().answer(
            request,
            list_sessions(request.user, **asked),
            SessionRowSerializer,
            objects=lambda page: summaries_of(request.user, page),
        )

    @extend_schema(
        operation_id="startCouncil",
        parameters=[IDEMPOTENCY_KEY],
        request=SessionInputSerializer,
        responses={201: SessionSerializer, **error_responses(TooManySessions, *STARTS)},
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Ask several models the same question.

        Each of them answers on a card of its own and knows nothing of the others. A card that
        cannot be paid for, or whose model is not available here, has `failed` from the start and
        says why in its `error`; where that goes for all of them, nothing is begun.
        """
        body = read(SessionInputSerializer, request.data)
        turn = carry_out(request, sessions.start, body)
        session = get_session(request.user, turn.session_id)
        return answer(turn, SessionSerializer, session, status.HTTP_201_CREATED)

    @extend_schema(operation_id="getCouncil", responses=SessionSerializer)
    def retrieve(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """A council with its cards, and their text so far.

        It is as it was after event `last_seq`: a client that follows the events from there
        misses nothing.
        """
        return Response(SessionSerializer(get_session(request.user, session_id)).data)

    @extend_schema(
        operation_id="updateCouncil",
        request=SessionChangesInputSerializer,
        responses=SessionSerializer,
    )
    def partial_update(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Rename a council."""
        changes = read(SessionChangesInputSerializer, request.data)
        if changes:
            sessions.rename(user=request.user, session_id=session_id, **changes)
        return Response(SessionSerializer(get_session(request.user, session_id)).data)

    @extend_schema(operation_id="deleteCouncil", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Delete a council for good, with its cards and its events.

        Calls that run are stopped, and billed for the prompt and what has come. Its sockets are
        closed with 4403. What it has cost stays in your usage.
        """
        sessions.delete(user=request.user, session_id=session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @describes_replay
    @extend_schema(operation_id="listCouncilEvents")
    def events(self, request: AuthenticatedRequest, session_id: UUID) -> HttpResponse:
        """The events of a council, in order, exactly as its socket delivers them.

        Page with `X-Next-Seq` until the array is empty. Then open the socket, replay once more, and
        drop duplicates by their `seq`: nothing is lost.
        """
        return replay_session(request, STREAM, session_id)

    @extend_schema(
        operation_id="stopCouncil",
        request=None,
        responses={200: SessionSerializer, 202: SessionSerializer},
    )
    def stop(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Stop all that is being written in a council: answers, merges, debates.

        202: each card ends soon after, as it does when it is stopped alone, and a debate begins no
        further round. 200: nothing was being written.
        """
        stopped = stopping.stop_session(user=request.user, session_id=session_id)
        session = get_session(request.user, session_id)
        done = status.HTTP_202_ACCEPTED if stopped else status.HTTP_200_OK
        return Response(SessionSerializer(session).data, status=done)

    @extend_schema(
        operation_id="addCard",
        parameters=[IDEMPOTENCY_KEY],
        request=CardInputSerializer,
        responses={201: CardSerializer, **error_responses(TooManyCards, *STARTS)},
    )
    def add_card(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Let one more model answer, as blind as the others."""
        body = read(CardInputSerializer, request.data)
        turn = carry_out(request, sessions.add_card, body, session_id=session_id)
        return answer(turn, CardSerializer, card_of(request.user, turn), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="sendCouncilMessage",
        parameters=[IDEMPOTENCY_KEY],
        request=MessageInputSerializer,
        responses={
            202: ChatSerializer,
            **error_responses(SessionBusy, NothingToAnswer, TooManyVersions, *STARTS),
        },
    )
    def chat(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Say something to every card that answers.

        Each goes on in its own conversation. A card that is being written, or has no finished
        answer, is passed over; one that cannot be paid for fails, and the others answer.
        """
        body = read(MessageInputSerializer, request.data)
        turn = carry_out(request, conversation.chat, body, session_id=session_id)
        chat = {
            "turn_id": turn.pk,
            "message": turn.message,
            "cards": cards_of(request.user, turn),
        }
        return answer(turn, ChatSerializer, chat)

    @extend_schema(
        operation_id="mergeCards",
        parameters=[IDEMPOTENCY_KEY],
        request=MergeInputSerializer,
        responses={
            202: CardSerializer,
            **error_responses(NotEnoughCards, SessionBusy, CardRunning, TooManyCards, *STARTS),
        },
    )
    def merge(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Make one of several answers, on a card of its own.

        The model that merges does not learn which model wrote which answer. Where it cannot be
        reached, another one that costs no more takes its place, once; `details.synthesis` of the
        card says which.
        """
        body = read(MergeInputSerializer, request.data)
        turn = carry_out(request, merges.merge, body, session_id=session_id)
        return answer(turn, CardSerializer, card_of(request.user, turn))

    @extend_schema(
        operation_id="startDebate",
        parameters=[IDEMPOTENCY_KEY],
        request=DebateInputSerializer,
        responses={
            202: DebateSerializer,
            **error_responses(NotEnoughCards, SessionBusy, CardRunning, TooManyVersions, *STARTS),
        },
    )
    def debate(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """Let cards revise their answers in the light of the others', in up to three rounds.

        Each revision is a version of its card, which can be restored away. It stops early when a
        round changes nothing.
        """
        body = read(DebateInputSerializer, request.data)
        turn = carry_out(request, debates.debate, body, session_id=session_id, least=MIN_ANSWERS)
        debate = {
            "turn_id": turn.pk,
            "rounds": turn.params["rounds"],
            "cards": cards_of(request.user, turn),
        }
        return answer(turn, DebateSerializer, debate)
