"""The bounds of a council, and what may be asked of it."""

from enum import StrEnum
from uuid import UUID

from msgspec import Struct

from common.errors import DomainError

# The kind of its event stream, and of its jobs.
STREAM = "council"
JOB = "council.generation"

MAX_PROMPT = 100_000  # characters of a question or a message
MAX_SYSTEM = 20_000
MAX_INSTRUCTIONS = 4_000
MAX_TITLE = 200
MAX_CARDS = 8  # that answer; and as many that merge
MAX_CARDS_EVER = 100  # of a council, the removed ones among them
MAX_SESSIONS_PER_DAY = 300  # that an account may begin within 24 hours
MAX_VERSIONS = 100  # of one card, restorations not counted
MAX_RESTORATIONS = 1_000  # of one card
MAX_RESTORATIONS_PER_DAY = 100  # of one card, within 24 hours
MAX_VERSIONS_WITH_CONTENT = 20  # in one answer
MAX_QUERY = 200  # what is searched for in titles
MAX_ROUNDS = 3
MIN_ANSWERS = 2  # that a merge or a debate needs


class MergeMode(StrEnum):
    """What becomes of answers: one, the best of all; one that keeps what the instructions say; a
    comparison; or what the instructions say."""

    FUSE = "fuse"
    GUIDED = "guided"
    COMPARE = "compare"
    CUSTOM = "custom"


class CallEstimate(Struct, frozen=True, kw_only=True):
    """A call, and what would be paid for it, from plan and balance, in nano-USD. `card_id` is None
    for a card that is not there yet, `round` where it is not of a debate."""

    card_id: UUID | None
    round: int | None
    model: str
    expected: int
    at_most: int
    refusal: DomainError | None


class Estimate(Struct, frozen=True, kw_only=True):
    """The calls of an action, and what those of them that are not refused would cost together;
    `available` is the free balance. All in nano-USD."""

    calls: list[CallEstimate]
    expected: int
    at_most: int
    available: int
