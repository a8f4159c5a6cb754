"""The errors of councils."""

from common.errors import Conflict, DomainError, NotFound
from council.types import (
    MAX_CARDS,
    MAX_CARDS_EVER,
    MAX_RESTORATIONS_PER_DAY,
    MAX_SESSIONS_PER_DAY,
    MAX_VERSIONS,
)


class CardNotFound(NotFound):
    """A card that the body or the query names; one in the path is a plain 404."""

    message = "This council has no such card."


class CardRunning(Conflict):
    code = "card_running"
    message = "This card is still being written. Wait until it has ended, or stop it."


class SessionBusy(Conflict):
    """The council has one merge, debate or chat with all cards at a time."""

    code = "session_busy"
    message = (
        "This council is busy with another merge, debate or chat. Wait until it has ended, or stop "
        "it."
    )


class NothingToAnswer(Conflict):
    code = "nothing_to_answer"
    message = "This card has no finished answer to go on from. Regenerate it or restore a version."


class TooManyCards(Conflict):
    code = "too_many_cards"
    message = (
        f"A council has at most {MAX_CARDS} cards of a kind, and {MAX_CARDS_EVER} with those that "
        "were removed. Remove one, or begin a new council."
    )


class TooManySessions(DomainError):
    code, status = "too_many_sessions", 429
    message = (
        f"You have begun {MAX_SESSIONS_PER_DAY} councils within 24 hours. Wait for Retry-After "
        "seconds, or go on with one of them."
    )


class TooManyVersions(Conflict):
    code = "too_many_versions"
    message = (
        f"A card has at most {MAX_VERSIONS} versions, restored ones not counted. Add a new card to "
        "go on."
    )


class TooManyRestorations(DomainError):
    code, status = "too_many_restorations", 429
    message = (
        f"Versions of this card were restored {MAX_RESTORATIONS_PER_DAY} times within 24 hours. "
        "Wait for Retry-After seconds."
    )


class NotEnoughCards(DomainError):
    """A merge or a debate of fewer than two finished answers."""

    code, status = "not_enough_cards", 400
    message = "At least two cards with a finished answer are needed."
