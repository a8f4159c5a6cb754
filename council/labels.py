"""Letters in place of names, so that models judge answers without knowing their authors or
order."""

from collections.abc import Sequence
from secrets import SystemRandom
from string import ascii_uppercase
from uuid import UUID


def deal(cards: Sequence[UUID]) -> dict[str, str]:
    """A letter for each card, at random, by the card's id; in the letters' order."""
    shuffled = [str(card) for card in cards]
    SystemRandom().shuffle(shuffled)
    return dict(zip(shuffled, ascii_uppercase, strict=False))
