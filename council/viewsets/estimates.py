"""What actions would cost: the bodies are those of the actions."""

from functools import partial
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.openapi import error_responses
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
    DebateInputSerializer,
    MergeInputSerializer,
    MessageInputSerializer,
    SessionInputSerializer,
)
from council.serializers.estimates import EstimateSerializer
from council.services import conversation, debates, merges, sessions
from council.services.actions import Action
from council.services.estimates import estimate
from council.viewsets.turns import ESTIMATES


class EstimateViewSet(ViewSet):
    """Estimates. They begin nothing, and are refused where the action would be, but for money."""

    @extend_schema(
        operation_id="estimateCouncil",
        request=SessionInputSerializer,
        responses={200: EstimateSerializer, **error_responses(TooManySessions, *ESTIMATES)},
    )
    def session(self, request: AuthenticatedRequest) -> Response:
        """What a council would cost.

        An answer is expected to have 800 tokens. `at_most` is what is held while it runs: the
        longest answer, and a bound of the input.
        """
        body = read(SessionInputSerializer, request.data)
        return _answer(request, partial(sessions.start, user=request.user, **body))

    @extend_schema(
        operation_id="estimateCouncilMessage",
        request=MessageInputSerializer,
        responses={
            200: EstimateSerializer,
            **error_responses(SessionBusy, NothingToAnswer, TooManyVersions, *ESTIMATES),
        },
    )
    def chat(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """What a message to all cards would cost."""
        body = read(MessageInputSerializer, request.data)
        chat = partial(conversation.chat, user=request.user, session_id=session_id, **body)
        return _answer(request, chat)

    @extend_schema(
        operation_id="estimateMerge",
        request=MergeInputSerializer,
        responses={
            200: EstimateSerializer,
            **error_responses(NotEnoughCards, SessionBusy, CardRunning, TooManyCards, *ESTIMATES),
        },
    )
    def merge(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """What a merge would cost."""
        body = read(MergeInputSerializer, request.data)
        merge = partial(merges.merge, user=request.user, session_id=session_id, **body)
        return _answer(request, merge)

    @extend_schema(
        operation_id="estimateDebate",
        request=DebateInputSerializer,
        responses={
            200: EstimateSerializer,
            **error_responses(
                NotEnoughCards, SessionBusy, CardRunning, TooManyVersions, *ESTIMATES
            ),
        },
    )
    def debate(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """What a debate would cost, if none of its rounds is the last before its time.

        Later rounds are reckoned with answers that are as long as the present ones; for `at_most`
        with the longest ones, at four bytes a token.
        """
        body = read(DebateInputSerializer, request.data)
        debate = partial(debates.debate, user=request.user, session_id=session_id, **body)
        return _answer(request, debate)


def _answer(request: AuthenticatedRequest, action: Action) -> Response:
    found = estimate(user=request.user, action=action)
    return Response(EstimateSerializer(found).data)
