"""The web process's part played by hand: each step of a reply at the moment that a test chooses."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.tests import bank
from billing.types import Ending, RequestKey
from common.errors import DomainError
from conversations import events
from conversations.events import Piece
from conversations.models import Conversation, Message
from conversations.replies.handler import LostReplyHandler
from conversations.selectors.conversations import get_conversation
from conversations.services import outcomes, sending
from conversations.services.drafts import draft_message
from conversations.services.outcomes import Ended, Said
from conversations.services.sending import Begun
from events.services import append
from events.types import NewEvent

COST = 100_000  # nano-USD of a reply, at cost


@dataclass
class Call:
    """A reply that a live process writes."""

    begun: Begun
    owner: UUID

    @property
    def id(self) -> UUID:
        return self.begun.reply.pk

    @property
    def reply(self) -> Message:
        return Message.objects.get(pk=self.id)

    def deltas(self, *pieces: Piece, offset: int = 0) -> list[NewEvent]:
        return events.deltas(self.begun.reply.model, pieces, offset)

    def tell(self, *pieces: Piece, offset: int = 0) -> None:
        """Tell what has come."""
        with transaction.atomic():
            append(stream_id=self.id, events=self.deltas(*pieces, offset=offset))

    def save(self, cost: int = COST) -> None:
        """Save how far the call has come."""
        bank.checkpoint(self.owner, self.id, cost)

    def settle(self, content: str, failure: DomainError | None = None) -> Ended:
        """End the reply with what was billed."""
        account_id = self.begun.call.account_id
        ending = Ending(self.id, account_id, "settled", COST, 5, 10)
        said = Said(content=content, finish_reason="stop", failure=failure)
        return self.conclude(ending, said)

    def release(self, failure: DomainError) -> Ended:
        """End the reply without any output."""
        ending = Ending(self.id, self.begun.call.account_id, "released")
        return self.conclude(ending, Said(failure=failure))

    def conclude(self, ending: Ending, said: Said) -> Ended:
        return outcomes.conclude(reply_id=self.id, attempt=1, ending=ending, said=said)

    def die(self) -> None:
        """Its process has died, and a sweep has found the job."""
        bank.kill(self.owner)
        LostReplyHandler().on_lost(self.id, 1)


def begin(
    user: User,
    conversation: Conversation,
    content: str = "Hi",
    *,
    request_key: RequestKey | None = None,
) -> Call:
    """Say something."""
    owner = bank.live_owner()
    draft = draft_message(user, get_conversation(user, conversation.pk), content=content)
    begun = sending.begin(
        draft=draft, request_key=request_key, owner_id=owner, request_id="req_test"
    )
    assert isinstance(begun, Begun)
    return Call(begun, owner)
