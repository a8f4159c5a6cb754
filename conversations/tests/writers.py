"""The processes that write replies, played by hand: what each does to its own is done to the oracle
too."""

from uuid import UUID

from accounts.models import User
from ai.generations.endings import give_up, release_readers
from ai.generations.types import Completion, Kind, Piece
from ai.inference.errors import CallCancelled, UpstreamFailed
from billing.tests import bank
from billing.types import Ending
from common.errors import DomainError, ServiceUnavailable
from conversations.services.completion import REPLY
from conversations.tests.manual import COST
from conversations.tests.story import HELD, RELEASED, RUNNING, SETTLED, Writing
from events.types import NewEvent

# What comes of a reply at a time.
PIECE = "Very 🌊."


class Writers:
    """Which of the replies is picked by a number. Nothing happens where there is none, nor to one
    that it cannot happen to."""

    def __init__(self, alice: User) -> None:
        self.alice = alice
        self.writings: dict[UUID, Writing] = {}

    def write(self, pick: int, kind: Kind, *, saves: bool) -> None:
        if not (writing := self.open(pick)) or writing.is_announced:
            return
        writing.call.write(Piece(kind, PIECE), offset=writing.length)
        writing.log.append((kind, PIECE))
        if saves and writing.charge == HELD:
            writing.call.save()
            writing.is_saved = True

    def settle(self, pick: int, failure: DomainError | None) -> None:
        """With a piece that is not in the log yet."""
        if writing := self.open(pick):
            unsent = writing.call.deltas(Piece("text", PIECE), offset=writing.length)
            if not writing.is_announced:
                writing.log.append(("text", PIECE))
            completion = completion_of(writing, failure, unsent)
            ending = Ending(
                writing.call.id, writing.payer, "settled", COST, {"tokens_in": 5, "tokens_out": 10}
            )
            writing.call.conclude(ending, completion)
            writing.conclude(SETTLED, failure.code if failure else None)

    def settle_all(self) -> None:
        while self.open(0):
            self.settle(0, None)

    def release(self, pick: int) -> None:
        """Its provider has failed before anything came."""
        if (writing := self.open(pick)) and not writing.log:
            writing.call.release(UpstreamFailed())
            writing.conclude(RELEASED, UpstreamFailed.code)

    def release_readers_of(self, pick: int) -> None:
        """Its user has stopped it and need not wait for its end."""
        if (writing := self.open(pick)) and writing.is_unwanted:
            completion = completion_of(writing, CallCancelled(), [])
            release_readers(REPLY, call_id=writing.call.id, attempt=1, completion=completion)
            writing.release_readers()

    def die(self, pick: int) -> None:
        if writing := self.open(pick):
            writing.call.die()
            writing.give_up("interrupted")

    def drain(self, pick: int) -> None:
        """It begins no calls any more."""
        if (writing := self.open(pick)) and not writing.log:
            failure = ServiceUnavailable()
            give_up(REPLY, call_id=writing.call.id, attempt=1, failure=failure)
            writing.give_up(failure.code)

    def lose_the_charge(self, pick: int) -> None:
        """To another hold of the account, which found that the lease was over."""
        if writing := self.open(pick):
            bank.expire(writing.call.id)
            writing.expire()

    def end_again(self, pick: int) -> None:
        """What has ended: because nobody heard of that, or took the process for dead."""
        over = [each for each in self.writings.values() if each.job != RUNNING]
        if over:
            call = over[pick % len(over)].call
            call.settle("Another text.")
            call.die()

    def open(self, pick: int) -> Writing | None:
        """One that has not ended; its readers may have been released, its conversation deleted."""
        writings = [each for each in self.writings.values() if each.job == RUNNING]
        return writings[pick % len(writings)] if writings else None


def completion_of(
    writing: Writing, failure: DomainError | None, unsent: list[NewEvent]
) -> Completion:
    content, reasoning = writing.text(), writing.text("reasoning")
    return Completion(content=content, reasoning=reasoning, failure=failure, unsent=unsent)
