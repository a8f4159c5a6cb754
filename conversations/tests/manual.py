"""The web process's part played by hand: each step of a reply at the moment that a test chooses."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import User
from ai.generations.endings import Ended, conclude
from ai.generations.running import LostCallHandler
from ai.generations.types import Completion, Piece
from billing.tests import bank
from billing.types import Ending, RequestKey
from common.errors import DomainError
from conversations import events
from conversations.models import Conversation, Message
from conversations.selectors.conversations import get_conversation
from conversations.services import sending
from conversations.services.completion import REPLY
from conversations.services.preparation import prepare_message
from conversations.services.sending import StartedReply
from events.services import append
from events.types import NewEvent

COST = 100_000  # nano-USD of a reply, at cost


@dataclass
class Call:
    """A reply that a live process writes."""

    started: StartedReply
    owner: UUID

    @property
    def id(self) -> UUID:
        return self.started.reply.pk

    @property
    def reply(self) -> Message:
        return Message.objects.get(pk=self.id)

    def deltas(self, *pieces: Piece, offset: int = 0) -> list[NewEvent]:
        return events.deltas(self.started.reply.model, pieces, offset)

    def write(self, *pieces: Piece, offset: int = 0) -> None:
        """Tell what has come."""
        with transaction.atomic():
            append(stream_id=self.id, events=self.deltas(*pieces, offset=offset))

    def save(self, cost: int = COST) -> None:
        """Save how far the call has come."""
        bank.checkpoint(self.owner, self.id, cost)

    def settle(self, content: str, failure: DomainError | None = None) -> Ended[dict[str, Any]]:
        """End the reply with what was billed."""
        account_id = self.started.call.account_id
        ending = Ending(self.id, account_id, "settled", COST, {"tokens_in": 5, "tokens_out": 10})
        completion = Completion(content=content, finish_reason="stop", failure=failure)
        return self.conclude(ending, completion)

    def release(self, failure: DomainError) -> Ended[dict[str, Any]]:
        """End the reply without any output."""
        ending = Ending(self.id, self.started.call.account_id, "released")
        return self.conclude(ending, Completion(failure=failure))

    def conclude(self, ending: Ending, completion: Completion) -> Ended[dict[str, Any]]:
        return conclude(REPLY, call_id=self.id, attempt=1, ending=ending, completion=completion)

    def die(self) -> None:
        """Its process has died, and a sweep has found the job."""
        bank.kill(self.owner)
        LostCallHandler(REPLY).on_lost(self.id, 1)


def begin(
    user: User,
    conversation: Conversation,
    content: str = "Hi",
    *,
    request_key: RequestKey | None = None,
) -> Call:
    """Say something."""
    owner = bank.live_owner()
    prepared = prepare_message(user, get_conversation(user, conversation.pk), content=content)
    started = sending.start(
        prepared=prepared, request_key=request_key, owner_id=owner, request_id="req_test"
    )
    assert isinstance(started, StartedReply)
    return Call(started, owner)
