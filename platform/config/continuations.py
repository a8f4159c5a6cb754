"""`/api/council/cards/{id}/continue`: continues a council's answer in a conversation.

Councils and conversations do not import each other; this module stands above both
(docs/decisions/0037).
"""

from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from accounts.models import User
from accounts.types import AuthenticatedRequest
from billing.errors import IdempotencyMismatch
from billing.idempotency import read_request_key, replayed
from billing.services import idempotency
from billing.types import RequestKey
from common.errors import NotFound
from common.idempotency import IDEMPOTENCY_KEY
from common.openapi import error_responses
from common.titles import first_line
from common.viewsets import ViewSet
from conversations.errors import ConversationFull, TooManyConversations, TooManyNewConversations
from conversations.selectors.conversations import get_detail
from conversations.serializers.conversations import ConversationDetailSerializer
from conversations.services.continuations import Exchange, continue_with
from council.errors import NothingToAnswer
from council.models import Card
from council.selectors.cards import current_of, get_card, has_answer
from council.selectors.threads import exchanges_of
from council.types import MAX_TITLE


class ContinuationViewSet(ViewSet):
    """Continues a card in a conversation."""

    @extend_schema(
        operation_id="continueCard",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses={
            201: ConversationDetailSerializer,
            **error_responses(
                NothingToAnswer,
                IdempotencyMismatch,
                ConversationFull,
                TooManyConversations,
                TooManyNewConversations,
            ),
        },
    )
    def create(self, request: AuthenticatedRequest, card_id: UUID) -> Response:
        """Continue a card in a conversation.

        The conversation begins with the council's question and the card's answer, and the later
        messages of the card; the card's model answers the next message. No model is called, and
        nothing is billed.
        """
        conversation_id, is_replayed = continue_card(
            user=request.user,
            card_id=card_id,
            request_key=read_request_key(request, {"card_id": card_id}),
        )
        try:
            detail = get_detail(request.user, conversation_id)
        except NotFound:
            raise NotFound("What this request began has been deleted.") from None
        return Response(
            ConversationDetailSerializer(detail).data,
            status=status.HTTP_201_CREATED,
            headers=replayed(is_replayed),
        )


@transaction.atomic
def continue_card(
    *, user: User, card_id: UUID, request_key: RequestKey | None
) -> tuple[UUID, bool]:
    """Create a conversation from a card. Returns its id, and whether an earlier request with the
    same key created it.

    Raises NotFound, NothingToAnswer, IdempotencyMismatch, and the errors of `continue_with`.
    """
    if (
        request_key is not None
        and (created := idempotency.claim(account=user, request_key=request_key)) is not None
    ):
        return created, True
    card = get_card(user, card_id)
    if not has_answer(card):
        raise NothingToAnswer
    conversation_id = _begin(user, card)
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=conversation_id)
    return conversation_id, False


def _begin(user: User, card: Card) -> UUID:
    session = card.session
    exchanges = [
        Exchange(
            question=question,
            answer=version.generation.content,
            model=version.generation.model,
            finish_reason=version.generation.finish_reason,
        )
        for question, version in exchanges_of(card)
    ]
    is_named = session.title != first_line(session.prompt, MAX_TITLE)
    conversation = continue_with(
        user=user,
        title=session.title if is_named else "",
        model=current_of(card).generation.model,
        system=session.system,
        exchanges=exchanges,
    )
    return conversation.pk
